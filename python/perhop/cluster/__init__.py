"""Replications on the workers of a Dask cluster. What it needs comes with `pip install perhop[cluster]`."""
