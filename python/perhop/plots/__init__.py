"""The pictures of a run, each a function from runs to a figure."""
