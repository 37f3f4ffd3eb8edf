"""Finding evidence for a query, and resolving the keys under which it was given."""
