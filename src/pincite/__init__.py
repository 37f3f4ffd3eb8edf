"""Pincite keeps a RAG corpus citable."""

__version__ = "0.1.0"
