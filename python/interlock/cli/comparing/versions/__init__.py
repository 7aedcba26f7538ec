"""Two versions of a tree of files: pairs of sources, and the documents that each is read with."""
