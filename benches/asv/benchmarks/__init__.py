"""Benchmarks over the project's history; `asv.conf.json` says how to run them.

They use the package's documented surface only, so that old commits can be measured. What a commit does not have yet is
skipped by the `NotImplementedError` that asv knows. The sources are those of `benches/corpus`; the vocabulary is a real
one of 128,256 tokens.
"""
