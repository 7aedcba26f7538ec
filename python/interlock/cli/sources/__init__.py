"""The arguments that name a source or a vocabulary: how they are read, and what is said of those that are wrong."""
