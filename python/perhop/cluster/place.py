"""Can all workers write where results are to go, and is it the place that the client reads?"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from perhop import storage
from perhop.cluster.errors import ClusterError, listed

if TYPE_CHECKING:
    from distributed import Client


def tried(out: str, name: str) -> str:
    """Writes a file, on a worker; what is wrong."""
    try:
        storage.write_probe(out, name)
    except OSError as error:
        return str(error)
    return ""


def check(client: Client, out: str) -> None:
    """Has every worker write a file, and reads it here.

    Raises:
        ClusterError: naming the workers that cannot write, or write to another place.
        OSError: this machine cannot.
    """
    name = uuid.uuid4().hex
    storage.write_probe(out, name)
    storage.read_probe(out, name)
    wrong = {}
    for number, worker in enumerate(client.nthreads()):
        own = f"{name}-{number}"
        said = client.run(tried, out, own, workers=[worker])[worker]
        if not said and not storage.read_probe(out, own):
            said = f"what it writes to {out} does not arrive here: that is another place there"
        if said:
            wrong[worker] = said
    if wrong:
        shown = listed([f"{worker}: {said}" for worker, said in sorted(wrong.items())])
        help_ = "   help: --out with a directory that all machines share, or s3://BUCKET/PREFIX"
        raise ClusterError("\n".join(["not every worker can write the results; nothing was run:", *shown, help_]))
