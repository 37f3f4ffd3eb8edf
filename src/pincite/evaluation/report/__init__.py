"""The report of an evaluation: one document, and its forms for people."""
