"""The service keeps the word that its OpenAPI gives, whatever is asked of it."""

from pathlib import Path

import pytest

from tests.effort import seed
from tests.studio.process import studio

pytestmark = [pytest.mark.slow, pytest.mark.needs("schemathesis")]

REQUESTS = 400  # `python -m benchmarks.studio requests` makes 5,000


@pytest.mark.filterwarnings("ignore")  # schemathesis has opinions on schemas; answers count here
def test_no_request_that_schemathesis_makes_up_gets_more_than_a_sentence(tmp_path: Path) -> None:
    from tests.studio.requests_made import storm, teach_some  # here: a second to import

    with studio(tmp_path / "kitchen.newfound", "serve", "--extractor", "pixels:size=8") as served:
        teach_some(served.url)
        found = storm(served.url, REQUESTS, seed(0))
        print(f"{found.statuses.total()} requests: {dict(sorted(found.statuses.items()))}")
        assert found.complaints == []
        assert found.statuses.total() >= REQUESTS
        assert not [status for status in found.statuses if status >= 500 and status != 503]
        assert found.statuses[200] > 0.05 * REQUESTS
        assert served.answers()
        assert "Traceback" not in served.said()
