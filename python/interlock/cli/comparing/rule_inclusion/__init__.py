"""Whether the rules of a grammar accept all that those of another accept, as far as their structure tells."""
