"""What generators make of a reply: values, values of parts of it, warnings of it, and what is asked again."""
