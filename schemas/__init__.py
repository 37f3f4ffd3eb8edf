"""Arrow table contracts, one module per table."""
