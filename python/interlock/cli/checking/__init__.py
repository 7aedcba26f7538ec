"""What ``check`` and its kin do with texts: walk them through a source, and say where they are refused."""
