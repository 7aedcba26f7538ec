"""The arguments of the command line: the commands that there are, their parser, and numbers in arguments."""
