"""Adapters for other people's trainers, each an extra of its own and imported only when used."""
