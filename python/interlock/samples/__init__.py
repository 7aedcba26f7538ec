"""Examples of what a source accepts: plausible documents, texts of grammars, and random walks."""
