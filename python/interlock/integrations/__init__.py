"""Adapters for inference engines, one module each, imported only by those who use that engine."""
