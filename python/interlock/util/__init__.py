"""What any part of the package uses: checks of arguments, near words, quoting, nesting, messages for clients."""
