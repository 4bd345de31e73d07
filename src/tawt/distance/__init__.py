"""How far a source is from the target, with and without training."""
