"""The vector store: rows of collections, by key, filter or vector."""
