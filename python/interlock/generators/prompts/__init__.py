"""What generators make of a prompt: the messages of a chat, the turns of a model, a type described in words."""
