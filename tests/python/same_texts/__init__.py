"""Same texts: hashes of what perhop prints of every text of the tree, compared with those on record.

    python -m same_texts --check                   # from tests/python; exit code 1 when an answer changed
    python -m same_texts --check --against PERHOP  # also the first line that differs from another build's
    python -m same_texts --check --corpus DIR      # also the public files in DIR: see `corpora`
    python -m same_texts --answer TEXT VERB        # what is hashed
    python -m same_texts --write                   # `make renew WHAT=texts`; say why in the commit

`tests/reference/results/texts.json` has a line for each text, with a hash for each verb and each call from Python. A
hash covers exit code, standard output and standard error; of a call the value as JSON with sorted keys, or the
exception's type and message. Refused texts count like others: every text goes to `check`, also a capture, and a
scenario to `import`.

- `texts`: which texts there are. Those within other files (fenced blocks of pages, strings of tests) are called by the
  hash of their content: they may move. One of them that is gone is listed, and is no difference.
- `verbs`, `program`: the command lines. Everything runs at the root of the tree with relative names.
- `calls`: the same from Python.

What depends on the day or the place is cut before hashing (`program.CUTS`): wall times, the directory of results, and
the hash in the names of its directories, which covers the version.

Simulations are short: 200 ms of simulated time, of a sweep its first point, and of a configuration the time in which
its link sends `MOST_BITS`. So no text is left out of `run` or `predict`. Scenarios of studies have few verbs, as they
are alike; so have scenarios that `check` refuses. Workloads of `crates/bench` are left out.
New texts and verbs are listed, and are not a difference.
"""
