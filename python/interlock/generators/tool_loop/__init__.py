"""Tools that a model of this process calls in rounds: the loop, its stream, and how functions are called."""
