"""What a call of a generator is given: a model, its tokenizer, options of sampling, and what is wrong with them."""
