"""Rerankers: a second look at the candidates, with a deadline and without trust."""
