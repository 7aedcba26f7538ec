"""What is shown and written: text for people, colours, errors and exit codes, and files, whole or not at all."""
