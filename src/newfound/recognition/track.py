"""The frames of one camera: what they show together, as long as nothing else is taught."""

from typing import TYPE_CHECKING, Any

from newfound.recognition.answer_values import TOP
from newfound.recognition.evidence import Evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from newfound.features.identity import Identity
    from newfound.recognition.knowledge import Answer
    from newfound.recognition.recogniser import Recogniser


class Track:
    """Evidence that begins anew with every edit of the model: a lesson shows at once.

    Parameters
    ----------
    recogniser : Recogniser
    half_life : float
        Seconds after which a frame counts half.
    """

    def __init__(self, recogniser: "Recogniser", half_life: float) -> None:
        self._recogniser = recogniser
        self._evidence, self._position = Evidence(half_life), -1

    def look(
        self, vector: "NDArray[Any]", made_by: "Identity", time: float, position: int
    ) -> "Answer | None":
        """Take in a frame, and return what all frames show; None: nothing is known.

        Parameters
        ----------
        vector : ndarray of shape (d,)
        made_by : Identity
        time : float
        position : int
            Of the model that is asked.

        Returns
        -------
        Answer or None
        """
        answer = look_if_taught(self._recogniser, vector, made_by, of_all=True)
        if answer is None or position != self._position:
            self._evidence.reset()
            self._position = position
        if answer is None:
            return None
        return self._evidence.add(answer, time, self._recogniser.unknown_above, vector)


def look_if_taught(
    recogniser: "Recogniser", vector: "NDArray[Any]", made_by: "Identity", *, of_all: bool = False
) -> "Answer | None":
    """Say what a vector shows, with the best guesses or all of them; None: nothing is known."""
    try:
        if recogniser.is_taught:
            top = max(TOP, len(recogniser.classes)) if of_all else TOP
            return recogniser.look_at_vectors(vector[None], top, None, made_by)[0]
    except ValueError:
        if recogniser.is_taught:  # otherwise somebody has just taken the last example back
            raise
    return None
