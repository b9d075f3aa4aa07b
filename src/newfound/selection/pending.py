"""A selection under way: a piece for every example that is learned meanwhile."""

from typing import Any

from newfound.common.pieces import Pieces, Stages
from newfound.selection.result import SelectionResult

# Of n < 256 examples, 256 // n pieces of work are done with each; later, one.
YOUNG = 256
# Operations of a piece at least, where there are few features: some milliseconds.
SMALLEST_PIECE = 1e8
# Examples that come at once beyond which a selection under way is finished at once, too.
MANY_ROWS = 64


class PendingSelection:
    """A selection under way.

    The pieces are all about the moment at which it began, and its result counts after as many
    examples as there are pieces, and a few more, with which a solver for the penalty that was
    chosen is made. So it does not matter how examples come, or when the work is really done. Of
    young models several pieces are done with an example.

    Parameters
    ----------
    start : SelectionResult
        What is expected.
    stages : generator of lists of Task, optional
        What is to be done; it returns the result.
    size : float, optional
        Operations in a piece.
    more : int, optional
        Examples with which other work is done, before the result counts.
    """

    # rows: examples learned since. done: pieces done. _renamed: classes that were, since.
    # result: once all pieces are done.

    def __init__(
        self,
        start: SelectionResult,
        stages: Stages[SelectionResult] | None = None,
        size: float = SMALLEST_PIECE,
        more: int = 0,
    ) -> None:
        self.start, self.total = start, start.total
        self.speed = max(1, YOUNG // start.total)
        self.rows = self.done = 0
        self.result: SelectionResult | None = None
        self._pieces = None if stages is None else Pieces(stages, size)
        self._more = more
        self._renamed: list[tuple[Any, Any]] = []

    @classmethod
    def finished(cls, result: SelectionResult, rows: int) -> "PendingSelection":
        """Return one that is done, so many examples after it began."""
        pending = cls(result)
        pending.rows, pending.result = rows, result
        return pending

    @property
    def has_failed(self) -> bool:
        """Whether a piece has failed or was interrupted, so that nothing can come of it."""
        return self._pieces is not None and self._pieces.has_failed

    @property
    def counts(self) -> bool:
        """Whether so many examples came that the result counts."""
        return self.result is not None and self.rows >= self.result.delay

    def advance(self, rows: int) -> None:
        """Do as many pieces as examples were learned."""
        self.rows += rows
        if rows > MANY_ROWS:
            self.finish()
        while self.result is None and self.done < self.speed * self.rows:
            self.step()

    def finish(self) -> SelectionResult:
        """Do all pieces; return the result."""
        if self._pieces is not None:
            self._note(self._pieces, self._pieces.finish())
        assert self.result is not None
        return self.result

    def step(self) -> None:
        """Do the next piece."""
        if self._pieces is not None:
            self._pieces.step()
            self._note(self._pieces, self._pieces.result)

    def rename(self, old: Any, new: Any) -> None:
        """Know a class by another label in the result."""
        if self.result is None:
            self._renamed.append((old, new))
        else:
            self.result = self.result.rename(old, new)

    def _note(self, pieces: Pieces[SelectionResult], result: SelectionResult | None) -> None:
        self.done = pieces.number
        if result is not None:
            self.result = result._replace(delay=-(-self.done // self.speed) + self._more)
            for pair in self._renamed:
                self.result = self.result.rename(*pair)
            self._pieces = None

    def __getstate__(self) -> dict[str, Any]:
        self.finish()  # work half done cannot be copied, and it makes no difference
        return self.__dict__
