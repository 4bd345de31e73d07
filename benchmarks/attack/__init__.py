"""Commands that are killed at random moments, go on, and have to end as if nothing had been."""
