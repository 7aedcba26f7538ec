"""What ``diff`` compares schemas by: inclusion by structure, a search for a witness, and the places that differ."""
