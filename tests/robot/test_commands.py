"""Commands: words and JSON mean the same, and what is none is answered with what there is."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.robot.commands import LONGEST, USAGE, Command, CommandError, parse


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("teach blue mug", {"do": "teach", "label": "blue mug"}),
        (" stop ", {"do": "stop"}),
        ("forget mug", {"do": "forget", "label": "mug"}),
        ("rename old cup -> mug", {"do": "rename", "old": "old cup", "new": "mug"}),
        ("name 12 blue mug", {"do": "name", "number": 12, "label": "blue mug"}),
        ("dismiss 12", {"do": "dismiss", "number": 12}),
        ("undo", {"do": "undo", "id": "any of mine"}),
    ],
)
def test_words_and_json_mean_the_same(words: str, fields: dict[str, object]) -> None:
    assert parse(words) == parse(json.dumps(fields))
    assert parse(words).do == fields["do"]


def test_json_says_what_words_cannot() -> None:
    assert parse('{"do": "teach", "label": "mug", "seconds": 1.5}').seconds == 1.5
    label = parse('{"do": "rename", "old": "a -> b", "new": "c", "join": true}')
    assert label == Command("rename", "a -> b", "c", join=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", USAGE),
        ("dance", USAGE),
        ("TEACH mug", USAGE),
        ("teach", "needs a text for 'label'"),
        ("stop it", "stands alone"),
        ("rename cup mug", "OLD -> NEW"),
        ("rename a -> b -> c", "JSON"),
        ("name mug", "number of a question"),
        ("name -1 mug", "number of a question"),
        (f"name {'9' * 5000} mug", "number of a question"),
        ("dismiss 1 mug", "a number and no more"),
        ("{", "is none"),
        ("[" * 5000, USAGE),
        ('{"a":' * 3000 + "1" + "}" * 3000, "is none"),
        ('{"do": ["teach"]}', USAGE),
        ('{"do": "teach", "label": 3}', "needs a text"),
        ('{"do": "teach", "label": "mug", "seconds": NaN}', "number from 0"),
        ('{"do": "teach", "label": "mug", "seconds": true}', "number from 0"),
        ('{"do": "teach", "label": "mug", "seconds": 1e9}', "to 86,400"),
        ('{"do": "teach", "label": "mug", "second": 1}', "takes no 'second'"),
        ('{"do": "rename", "old": "a", "new": "b", "join": 1}', "true or false"),
        ('{"do": "name", "number": 1.0, "label": "mug"}', "number of a question"),
        ("teach " + "m" * LONGEST, "letters"),
    ],
)
def test_what_is_no_command_is_answered_with_what_to_do(text: str, says: str) -> None:
    with pytest.raises(CommandError, match=re.escape(says)):
        parse(text)


@given(st.text() | st.builds(json.dumps, st.dictionaries(st.sampled_from(
    ["do", "label", "old", "new", "number", "seconds", "join"]),
    st.sampled_from(["teach", "rename", "name"]) | st.text() | st.integers() | st.none(),
)))  # fmt: skip
def test_whatever_is_said_is_a_command_or_an_error_in_words(text: str) -> None:
    with suppress(CommandError):  # and nothing else
        assert parse(text).do in USAGE
