"""Requests that schemathesis makes up from the OpenAPI of a running service."""

from collections import Counter
from itertools import count
from time import sleep
from typing import Any, NamedTuple

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.studio.pictures import picture

# What every answer is held to: no 500, and nothing that the OpenAPI does not announce.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Requests of one kind to one operation, before it is another's turn.
ROUND = 25


class Storm(NamedTuple):
    """What came back."""

    statuses: Counter[int]
    complaints: list[str]  # one for each operation and mode that did not keep its word


def teach_some(url: str, label: str = "mug", how_many: int = 5) -> None:
    """Teach images, so that there is something to ask about."""
    for number in range(how_many):
        httpx.post(
            f"{url}/api/lessons",
            params={"label": label},
            content=picture(1, number),
            headers={"Content-Type": "image/jpeg"},
        ).raise_for_status()


def storm(url: str, how_many: int, first: int = 0) -> Storm:
    """Make at least so many requests: to all operations, as they should be and as they should not.

    Operations that did not keep their word are asked no more. `first` is the seed to begin with.
    """
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    pairs = [(operation, mode) for operation in operations for mode in GenerationMode]
    each = min(ROUND, -(-how_many // len(pairs)))
    statuses, complaints = Counter[int](), list[str]()
    for round in count(first):
        for operation, mode in list(pairs):
            if complaint := _requests(url, operation, mode, each, round, statuses):
                complaints.append(f"{mode} {operation.label}: {complaint}")
                pairs.remove((operation, mode))
        if statuses.total() >= how_many or not pairs:
            break
    return Storm(statuses, complaints)


def _requests(
    url: str,
    operation: Any,
    mode: GenerationMode,
    how_many: int,
    random_state: int,
    statuses: Counter[int],
) -> str:
    """Make requests to one operation; return what is wrong with the first answer that is."""

    @seed(random_state)
    @settings(
        max_examples=how_many,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def make(case: Any) -> None:
        response = case.call(base_url=url)
        while response.status_code == 429:  # too fast: as many as it takes are made
            sleep(0.1)
            response = case.call(base_url=url)
        statuses[response.status_code] += 1
        case.validate_response(response, checks=CHECKS)

    try:
        make()
    except Unsatisfiable:
        return ""  # an operation without parameters cannot be asked in a wrong way
    except (Exception, BaseExceptionGroup) as error:  # several complaints come as a group
        return str(error)
    return ""
