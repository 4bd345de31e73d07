"""Corpora, raw text in many documents: what language models are trained on."""
