"""Writing documents into a generation: one pipeline for ingest, rebuild, backfill and online."""
