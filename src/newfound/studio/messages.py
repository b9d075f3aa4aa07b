"""What is said over HTTP and the WebSocket: one class a message, as OpenAPI shows them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from newfound.common.limits import LONGEST_LABEL

# A key names an edit that a client wants once, an action what is undone as one.
KEY = r"^[A-Za-z0-9_-]{8,64}$"
# The largest number that JavaScript can tell from the next.
LARGEST_ID = 2**53 - 1
# Examples that one edit may name.
MOST_EXAMPLES = 2000


# What a class is to be called; whether it may be is asked where it is known which there are.
Label = Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL)]
# What a class is called, which may be anything: models of other programs have such labels, too.
KnownLabel = Annotated[str, Field(max_length=LONGEST_LABEL)]
Key = Annotated[str, Field(pattern=KEY, description="Unique for each edit that is wanted once.")]
Action = Annotated[str, Field(pattern=KEY, description="Edits in a row with it are undone as one.")]
Id = Annotated[StrictInt, Field(ge=1, le=LARGEST_ID)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=MOST_EXAMPLES)]


class Error(BaseModel):
    """What went wrong, in a sentence."""

    error: str


class Asked(BaseModel):
    """What a client asks for; what it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class Keyed(Asked):
    """An edit that needs nothing but its key."""

    key: Key | None = None


class Forget(Keyed):
    """Examples to delete, or a class; one of both."""

    examples: Ids | None = None
    label: KnownLabel | None = None
    for_good: StrictBool = Field(
        default=False, description="Also empty the bin: nothing before can be undone any more."
    )


class Move(Keyed):
    """Examples that show something else."""

    examples: Ids
    label: Label


class Rename(Keyed):
    """A class and what it is called from now on, which no other class is."""

    old: KnownLabel
    new: Label


class Join(Keyed):
    """A class and the one that takes it in."""

    old: KnownLabel
    into: KnownLabel


class Name(Keyed):
    """What a question shows."""

    label: Label


class EmptyBin(Asked):
    """Nothing: all that was deleted is meant."""


class Session(Asked):
    """The token that stands at the end of the address."""

    token: Annotated[str, Field(min_length=1, max_length=256)]


class ClassState(BaseModel):
    """A class: how many examples it has, and how many of them are listed."""

    label: str
    count: int
    kept: int


class ImportProgress(BaseModel):
    """How far the import of a zip is, in images."""

    done: int
    of: int


class StateMessage(BaseModel):
    """All that a page shows beside answers."""

    model: str
    position: int
    classes: list[ClassState]
    undo: str | None
    redo: str | None
    cannot_tell_unknown: str | None
    unknown_above: float
    extractor: str | None
    bin: int = Field(description="Deleted examples that undo could bring back.")
    questions: int = Field(description="Things that were not known, and nobody has named yet.")
    keep_vectors: int
    keep_thumbnails: int
    version: str
    importing: ImportProgress | None = Field(description="The import of a zip under way.")


class Guess(BaseModel):
    """A label and its probability."""

    label: str
    score: float


class AnswerMessage(BaseModel):
    """What an image shows."""

    label: str | None = Field(description="The best guess; null where nothing was taught.")
    known: bool
    score: float
    unknown: float
    novelty: float
    top: list[Guess] = Field(max_length=20)
    milliseconds: float = Field(description="Spent on the image, without waiting for others.")
    position: int


class Done(BaseModel):
    """An edit that is in the journal."""

    position: int
    repeated: bool = Field(description="The key was seen before: nothing was done again.")
    what: str
    examples: list[int]
    milliseconds: float
    state: StateMessage


class ExampleMessage(BaseModel):
    """An example that is kept."""

    id: int
    label: str
    time: float
    source: str
    thumbnail: bool
    vector: bool


class Examples(BaseModel):
    """Examples, newest first, and where to go on."""

    examples: list[ExampleMessage]
    next: int | None = Field(description="Ask with it as `before` for more; null: these are all.")


class QuestionMessage(BaseModel):
    """Something that was not known: when and where it was seen, and the nearest class."""

    id: int
    time: float
    source: str
    guess: str | None
    frames: list[int] = Field(description="Examples that show it; their thumbnails can be asked.")


class Questions(BaseModel):
    """What nobody has named yet, newest first, and where to go on."""

    questions: list[QuestionMessage]
    next: int | None = Field(description="Ask with it as `before` for more; null: these are all.")


class Pair(BaseModel):
    """How often examples of one class are taken for another, or for what they are."""

    label: str
    said: str
    count: int


class Confusions(BaseModel):
    """What kept examples would be called, had each not been taught."""

    classes: list[str]
    pairs: list[Pair]


class ImportProblem(BaseModel):
    """A file that could not be used, and why."""

    name: str
    reason: str


class Imported(BaseModel):
    """What became of the images of a zip."""

    taught: int
    known: int
    problems: list[ImportProblem]
    left: int = Field(description="Images that were not looked at, because it ended early.")
    stopped: str | None = Field(description="Why it ended early.")
    state: StateMessage


class Health(BaseModel):
    """The service answers."""

    status: str
    model: str
    position: int


class Teach(Asked):
    """A lesson over the WebSocket."""

    type: str
    id: Annotated[str, Field(max_length=64)] | None = None
    label: Label
    key: Key | None = None
    action: Action | None = None
    image: str = Field(description="Base64 of an image file.")
