"""Text: reading tagged files, scoring tags, and language models that learn from them."""
