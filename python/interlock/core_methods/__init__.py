"""What the classes of the core do in Python: methods that are attached to them when the package is imported."""
