"""What the vectors of an extractor are known by, so that those of two are not mixed up."""

from dataclasses import asdict, dataclass, field
from typing import Any

from newfound.common.errors import InputError

# Numbers that say how images are prepared stay far below this.
LARGEST_NUMBER = 1e15


@dataclass(frozen=True)
class Identity:
    """What makes the vectors of two extractors comparable: all of it has to agree.

    Parameters
    ----------
    name : str
    weights : str
        SHA-256 of the network's weights, in hexadecimal; empty if there is no network.
    output : str
        Which of the network's tensors.
    preprocessing : dict
        How an image becomes what the network takes, in values that JSON can hold. Also `root`,
        true if what the network gives becomes roots at unit length (`take_root`).

    Examples
    --------
    >>> print(Identity("pixels", preprocessing={"size": [8, 8]}))
    pixels (size=8/8)
    """

    name: str
    weights: str = ""
    output: str = ""
    preprocessing: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.name, self.weights, self.output))

    def __str__(self) -> str:
        parts = [f"weights {self.weights[:8]}"] if self.weights else []
        parts += [f"output {self.output}"] if self.output else []
        parts += [f"{name}={_shown(value)}" for name, value in self.preprocessing.items()]
        return f"{self.name} ({', '.join(parts)})" if parts else self.name

    @property
    def root(self) -> bool:
        """Whether vectors are roots at unit length; not, where nothing is said of it."""
        return self.preprocessing.get("root") is True

    def differences(self, other: "Identity") -> str:
        """Return in words what tells two extractors of one name apart, empty if names differ.

        Examples
        --------
        >>> Identity("mine", preprocessing={"root": True}).differences(Identity("mine", "1f2e"))
        'weights (none, 1f2e), root (yes, no)'
        """
        if self.name != other.name:
            return ""
        one, two = _parts(self), _parts(other)
        both = {name: (one.get(name, "none"), two.get(name, "none")) for name in {**one, **two}}
        return ", ".join(f"{name} ({a}, {b})" for name, (a, b) in both.items() if a != b)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> "Identity":
        """Return the identity that `to_json` gave `values` for, or raise ValueError."""
        kinds = {"name": str, "weights": str, "output": str, "preprocessing": dict}
        if not (
            isinstance(values, dict)
            and set(values) == set(kinds)
            and all(isinstance(values[name], kind) for name, kind in kinds.items())
            and all(map(_is_plain, values["preprocessing"].values()))
        ):
            raise InputError("not an extractor's identity")
        return cls(**values)


def _parts(identity: Identity) -> dict[str, str]:
    """Return all but the name, in words."""
    parts = {"weights": identity.weights[:8] or "none", "output": identity.output or "none"}
    preprocessing = {"root": False, **identity.preprocessing}
    return parts | {name: _shown(value) for name, value in preprocessing.items()}


def _is_plain(value: Any) -> bool:
    """Tell whether a value is a word, a number of ordinary size, none, or a list of such."""
    parts = value if isinstance(value, list) else [value]
    return all(
        abs(part) < LARGEST_NUMBER
        if isinstance(part, int | float)
        else isinstance(part, str | None)
        for part in parts
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    parts = value if isinstance(value, list | tuple) else [value]
    return "/".join(f"{part:g}" if isinstance(part, int | float) else str(part) for part in parts)
