"""What clients get: calls that were captured in an output, and the chunks and messages of chat completions."""
