"""The corpora: what each takes in, and what scopes its lookups."""
