"""Learn how much each of your other datasets should count for the task you care about."""

__version__ = "0.1.0"
