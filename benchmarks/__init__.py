"""Measurements: one file a question, each prints a table. Run them as `python -m benchmarks.NAME`."""
