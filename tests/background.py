"""Jobs in other threads, which come to an end and are heard of if they fail."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

# Longer than anything here takes, also on a machine that is busy with other work.
PATIENCE = 240.0


@contextmanager
def in_the_background(job: Callable[[], object]) -> Iterator[None]:
    """Run a job in a thread; at the end it is done, and what it raised is raised."""
    finish = _begin(job)
    yield
    finish()


def together(*jobs: Callable[[], object]) -> None:
    """Run jobs at the same time, from one start; raise what any of them raises."""
    start = threading.Barrier(len(jobs), timeout=PATIENCE)
    with ExitStack() as running:
        for job in jobs:
            running.callback(_begin(start.wait, job))


def _begin(*jobs: Callable[[], object]) -> Callable[[], None]:
    """Do jobs in a thread, one after the other; return what waits for it."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            for job in jobs:
                job()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()

    def finish() -> None:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "waits for ever"
        if raised:
            raise raised[0]

    return finish
