"""One tree of errors: what newfound refuses to do, or cannot do, is a NewfoundError.

    NewfoundError
      InputError     what was given makes no sense here; also a ValueError
        NotTaughtError          what is to be forgotten cannot have been taught
        WrongExtractorError     vectors of one extractor for a model of another
        UnreadableImageError    a file or an array is no image
        ModelFileError          a file is no model, is damaged, or comes from a later version
      MissingDataError      a data set is not at hand; also a FileNotFoundError
      ClusterError          a cluster cannot do its part of a lesson

Whoever gets one has changed nothing by it, and its message says what to do. Models that were taught
nothing raise scikit-learn's NotFittedError, and its checks of input its own ValueErrors.
"""


class NewfoundError(Exception):
    """Anything that newfound refuses to do, or cannot do.

    Examples
    --------
    >>> import newfound
    >>> try:
    ...     newfound.IncrementalRidgeClassifier(penalty=-1).fit([[0.0]], ["cup"])
    ... except newfound.NewfoundError as error:
    ...     print(error)
    penalty must be a finite number above 0, got -1; from 1e-100 to 1e+100 will do
    """


class InputError(NewfoundError, ValueError):
    """What was given makes no sense here; nothing was changed."""


class NotTaughtError(InputError):
    """What is to be forgotten cannot have been taught."""


class WrongExtractorError(InputError):
    """Vectors of one extractor are offered to a model of another."""


class UnreadableImageError(InputError):
    """A file, some bytes or an array is not an image that can be used."""


class ModelFileError(InputError):
    """A file is not a model, is damaged, or comes from a later version."""


class MissingDataError(NewfoundError, FileNotFoundError):
    """A data set is not where it was looked for; the message says how to get it."""


class ClusterError(NewfoundError):
    """A cluster cannot do its part of a lesson; what was learned before is kept."""


# They are newfound.ModelFileError and so on, in tracebacks, too.
for _error in (
    NewfoundError,
    InputError,
    NotTaughtError,
    WrongExtractorError,
    UnreadableImageError,
    ModelFileError,
    MissingDataError,
):
    _error.__module__ = "newfound"
