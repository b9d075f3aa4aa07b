"""The frames of one camera: what they show together, as long as nothing else is taught."""

from typing import TYPE_CHECKING

from newfound.recognition.evidence import Evidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from newfound.recognition.knowledge import Answer


class Track:
    """Evidence that begins anew with every edit of the model: a lesson shows at once.

    Parameters
    ----------
    half_life : float
        Seconds after which a frame counts half.
    """

    def __init__(self, half_life: float) -> None:
        self._evidence, self._position = Evidence(half_life), -1

    def add(
        self,
        answer: "Answer | None",
        vector: "ArrayLike",
        time: float,
        position: int,
        unknown_above: float,
    ) -> "Answer | None":
        """Take in what is said of a frame, and return what all frames say; None: nothing is known.

        Parameters
        ----------
        answer : Answer or None
            With all classes; None: nothing is known.
        vector : array-like of shape (d,)
        time : float
        position : int
            Of the model that was asked.
        unknown_above : float

        Returns
        -------
        Answer or None
        """
        if answer is None or position != self._position:
            self._evidence.reset()
            self._position = position
        return None if answer is None else self._evidence.add(answer, time, unknown_above, vector)
