"""A Dask cluster whose workers can look at images: one that is there, or one on this machine."""

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from newfound.common.errors import ClusterError
from newfound.common.extras import imported_from
from newfound.common.interrupts import uninterrupted

# Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 10.0
LOCAL = "local"
# On one machine who does not answer at once is dead: nobody waits half a minute for them.
NEARBY = {
    "distributed.comm.timeouts.connect": "3s",
    "distributed.deploy.lost-worker-timeout": "10s",
}


@contextmanager
def connected(where: str) -> Iterator[Any]:
    """Connect to a cluster that can look at images.

    Parameters
    ----------
    where : str
        The address of a scheduler, such as "tcp://10.0.0.1:8786", or "local": then processes are
        started on this machine, one for each core, and ended afterwards.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ClusterError
        If it is no address, nobody is there, or workers have another newfound or Python.
    ModuleNotFoundError
        If the extra `dask` is not installed.
    """
    with imported_from("dask"):
        import dask.config

        import distributed
    with ExitStack() as stack:
        # What an extractor and the memory of images weigh is sent once, and knowingly.
        quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
        stack.enter_context(dask.config.set(quiet))
        address: Any = where
        if where.lower() == LOCAL:
            address = stack.enter_context(_local_cluster())
        else:
            _check_address(where)
        try:
            connect: Any = distributed.Client
            client = connect(address, timeout=PATIENCE, set_as_default=False)
            stack.callback(_close, client)
            _check_workers(client, where)
        except (OSError, ImportError) as error:
            raise ClusterError(
                f"no cluster answers at {where}: is a scheduler running there, and is that its "
                "address?"
            ) from error
        yield client


def _check_address(where: str) -> None:
    """Raise ClusterError unless this is how Dask writes an address.

    A client that meets another one is never closed, and complains of it when the process ends.
    """
    from distributed.comm.registry import backends

    try:
        parts = urlsplit(where)
        is_whole = bool(parts.hostname and parts.port)
    except ValueError:  # no port is like that
        is_whole = False
    scheme = where.partition("://")[0]
    # Clusters within this process have numbers instead of a port: inproc://10.0.0.1/123/1.
    if scheme == "inproc":
        is_whole = re.fullmatch(r"inproc://[^/]+/\d+/\d+", where) is not None
    if scheme not in backends or not is_whole:
        raise ClusterError(
            f"{where!r} is no address of a cluster: give that of its scheduler, such as "
            f'tcp://10.0.0.1:8786, or "{LOCAL}"'
        )


def _close(client: Any) -> None:
    """Let go of a cluster. If it does not answer, what went wrong before is what counts."""
    with suppress(OSError):
        client.close()


@contextmanager
def _local_cluster() -> Iterator[Any]:
    """Start a process for each core, which nobody but this machine can talk to."""
    from logging import CRITICAL

    import dask.config

    from distributed import LocalCluster
    from newfound.common.threads import cores

    start: Any = LocalCluster
    with (
        dask.config.set(NEARBY),
        TemporaryDirectory(prefix="newfound-") as folder,
        # The scheduler and whatever else has a folder of its own put it there, too.
        dask.config.set({"temporary-directory": folder}),
        ExitStack() as stack,
    ):
        with _ctrl_c_kept_from_children():
            cluster = start(
                n_workers=cores(),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=CRITICAL,
                memory_limit=0,
                local_directory=folder,
                preload=[__name__],
            )
            stack.enter_context(cluster)
        # A worker that dies is started again by its nanny, but not one that dies as it is born.
        cluster.adapt(minimum=cores(), maximum=cores())
        yield cluster


@contextmanager
def _ctrl_c_kept_from_children() -> Iterator[None]:
    """Block Ctrl-C for threads that begin here, and whatever they start, then and later.

    A terminal sends it to all processes, and each would complain of it, while it is born already.
    If it comes meanwhile it takes effect here, afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where `dask_setup` has to do
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # a thread that starts it has its Ctrl-C back afterwards
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with uninterrupted():  # threads that were there already may be sent it
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def dask_setup(_: Any) -> None:
    """Leave Ctrl-C to the client, as workers would complain of it.

    A worker of a local cluster calls this when it begins.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_workers(client: Any, where: str) -> None:
    """Raise ClusterError unless there are workers, and all can take part."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(f"the cluster at {where} has no workers") from None
    found: Any = client.get_versions(packages=["newfound"])
    ours = found["client"]["packages"]
    for address, worker in found["workers"].items():
        theirs = worker["packages"]
        for name, digits in ("newfound", 99), ("python", 2):
            here, there = (".".join(str(each[name]).split(".")[:digits]) for each in (ours, theirs))
            if theirs[name] is None:
                raise ClusterError(
                    f"worker {address} has no newfound: pip install "
                    f"'newfound[dask,vision]=={here}' there"
                )
            if here != there:
                raise ClusterError(
                    f"worker {address} has {name} {there}, but here is {name} {here}: "
                    "use the same on both"
                )
