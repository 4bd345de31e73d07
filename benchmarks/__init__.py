"""What tawt promises about its cost, measured as ratios in one run: `python -m benchmarks`."""
