"""How model families write tool calls: the formats, found for a tokenizer, written, and read back."""
