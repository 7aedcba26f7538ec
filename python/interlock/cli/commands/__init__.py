"""The commands: one file each, with ``register``, which describes the arguments, and ``run``, which does the work."""
