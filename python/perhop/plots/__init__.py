"""The plots of a run, each a function from runs to a figure."""
