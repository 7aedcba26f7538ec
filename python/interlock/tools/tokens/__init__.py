"""The tokens of a vocabulary that a tag or a grammar may name, and the texts that its tokens can spell."""
