"""From a structural tag to the grammar that an index is compiled from."""
