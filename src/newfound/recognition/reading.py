"""From images and vectors that were found to examples, and to answers about these."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from newfound.common.errors import InputError
from newfound.recognition import sources
from newfound.recognition.extractors import common_identity
from newfound.recognition.knowledge import Answer
from newfound.recognition.sources import Example, Problem, Sources, Wanted

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor
    from newfound.recognition.recogniser import Recogniser


def examples(
    recogniser: "Recogniser", found: Sources, wanted: Wanted | None = None
) -> Iterator[Example]:
    """Return an iterator over all that was found, turned into vectors.

    Parameters
    ----------
    recogniser : Recogniser
    found : Sources
        What `newfound.recognition.sources.find` found.
    wanted : callable, optional
        Given label, digest and number of an example, says whether its vector is needed. It is
        called in other threads.

    Returns
    -------
    iterator of Example

    Raises
    ------
    WrongExtractorError, InputError
        At once, before any work, if some vectors cannot be those of this model.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import Recogniser
    >>> recogniser = Recogniser(extractor="pixels:size=4")
    >>> found = sources.find([np.zeros((8, 8), dtype=np.uint8)], "night")
    >>> [(example.name, len(example.vector)) for example in examples(recogniser, found)]
    [('image 0', 16)]
    """
    return sources.read(found, extractor_for(recogniser, found), wanted)


def extractor_for(recogniser: "Recogniser", found: Sources) -> "Extractor | None":
    """Return what turns the images among all that was found into vectors; None: there are none.

    Raises WrongExtractorError or InputError if some vectors cannot be those of this model.
    """
    known, whose = recogniser.identity, "this model was taught vectors"
    for identity in found.extractors:
        known = common_identity(known, identity, "there are vectors", whose)
        whose = whose if recogniser.identity else "some vectors are those"
    network, widths, width = None, found.widths, recogniser.knowledge.width
    if found.images:
        network = recogniser.eyes.extractor(known)
        widths = widths | {network.width}
    if len(widths) > 1:
        sizes = " and of ".join(map(str, sorted(widths)))
        raise InputError(f"vectors of {sizes} features")
    if width is not None and widths - {width}:
        raise InputError(f"vectors of {widths.pop()} features, but this model was taught {width}")
    return network


def look_at(
    recogniser: "Recogniser",
    examples: Iterable[Example],
    problems: list[Problem],
    top: int = 1,
    unknown_above: float | None = None,
    block: int = 64,
) -> Iterator[tuple[Example, Answer]]:
    """Yield examples with their answers; put what cannot be used in `problems`.

    Parameters
    ----------
    recogniser : Recogniser
    examples : iterable of Example
    problems : list of Problem
        Is added to.
    top : int, default=1
        How many guesses to return.
    unknown_above : float, optional
        The probability of being unknown above which an image is called that. By default the
        recogniser's own bound.
    block : int, default=64
        How many are looked at together. With 1, no answer waits for the next image.

    Yields
    ------
    (Example, Answer)

    Raises
    ------
    WrongExtractorError
        If vectors are of another extractor than those taught.
    """
    for some in sources.blocks(examples, problems, block):
        vectors, made_by = sources.stack(some)
        answers = recogniser.look_at_vectors(vectors, top, unknown_above, made_by)
        yield from zip(some, answers, strict=True)
