"""Data that tawt brings along, for demonstrations that need no download."""
