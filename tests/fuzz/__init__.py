"""Malformed input of every sort, and the one rule it must meet."""
