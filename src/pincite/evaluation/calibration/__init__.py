"""Lines for an embedding model, from golden cases."""
