"""Text to vectors: the port, its adapters, batching and the cache."""
