"""Evaluation: golden cases, fixtures, reports and their comparison; no model is a judge."""
