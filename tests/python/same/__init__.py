"""Same results: hashes of every column of every table, compared with those on record.

    python -m same --check                    # from tests/python; exit code 1 when a recorded value changed
    python -m same --check --against PYTHON   # also the first row that differs from another build's
    python -m same --write                    # `make renew WHAT=results`; say why in the commit

What is recorded, in `tests/reference/results`:

- `tables.json`: each scenario file of `examples` and of the papers as it is, one replication of every point.
- `captures.json`: `perhop mark` and `perhop meter` on each capture of `tests/captures`, under each example of a policy.
- `studies.json`: each run set of the papers, one replication: the quantities read off its tables; and what each open
  reading changes in each scenario file of its paper.

New scenarios, tables and columns are listed, and are not a difference.
"""
