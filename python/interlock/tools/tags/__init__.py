"""Structural tags of tools and formats, the indexes of tags, and checks of requests that need no vocabulary."""
