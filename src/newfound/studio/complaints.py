"""What a validator complains of, in words for people."""

from typing import Any

# By pydantic's name for what is wrong; bounds are called as it calls them.
SENTENCES = {
    "missing": "{what} is missing",
    "json_invalid": "the body is not JSON",
    "extra_forbidden": "{what} is not known here",
    "string_type": "{what} must be text",
    "string_unicode": "{what} must be text",
    "string_too_short": "{what} is empty",
    "string_too_long": "{what} has more than {max_length} letters",
    "string_pattern_mismatch": "{what} must be 8 to 64 letters, digits, - or _",
    "too_short": "{what} is empty",
    "too_long": "{what} has more than {max_length} entries",
    "list_type": "{what} must be a list",
    "bool_type": "{what} must be true or false",
    "greater_than_equal": "{what} must be at least {ge}",
    "less_than_equal": "{what} must be at most {le}",
    "dict_type": "{what} must be a JSON object",
    "model_type": "{what} must be a JSON object",
    "model_attributes_type": "{what} must be a JSON object",
    "value_error": "{error}",
}
# Names of fields that are longer are not ours, and cut.
LONGEST_FIELD = 80
# Complaints that are told of one message.
MOST = 3


def words_of(errors: list[Any]) -> str:
    """Return what a validator complains of, in sentences that repeat no value it was given.

    Parameters
    ----------
    errors : list of dict
        As pydantic and FastAPI list them.

    Returns
    -------
    str

    Examples
    --------
    >>> words_of([{"type": "missing", "loc": ("body", "label"), "msg": "Field required"}])
    'label is missing'
    >>> words_of([{"type": "int_type", "loc": ("body", "examples", 0), "msg": "..."}])
    'an entry of examples must be a whole number'
    """
    return "; ".join(dict.fromkeys(_sentence(error) for error in errors[:MOST]))


def _sentence(error: dict[str, Any]) -> str:
    kind, what = error["type"], _what(error["loc"])
    if kind.startswith("int_"):
        return f"{what} must be a whole number"
    sentence = SENTENCES.get(kind, "{what} cannot be used")
    return sentence.format_map({**error.get("ctx", {}), "what": what})


def _what(where: tuple[str | int, ...]) -> str:
    """Return what a place in a request is called."""
    names = [part for part in where if isinstance(part, str)]
    if names and names[0] in ("body", "query", "path"):
        del names[0]
    if not names:
        return "the body"
    name = names[-1][:LONGEST_FIELD]
    return name if where[-1] == names[-1] else f"an entry of {name}"
