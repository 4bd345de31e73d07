"""The best model for a target within a budget, and never below the target alone."""
