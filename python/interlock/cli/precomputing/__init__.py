"""What ``precompute`` runs: processes that compile one source each, and the summary of what became of them."""
