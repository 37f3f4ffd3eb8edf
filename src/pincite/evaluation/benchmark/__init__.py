"""Public sets in the BEIR layout, run in a home of their own."""
