"""What clients send: tools, a choice of tools, response formats, and whole bodies."""
