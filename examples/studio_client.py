"""Teach and ask a service that runs: `newfound serve kitchen.newfound`.

    python examples/studio_client.py http://127.0.0.1:8000 mug photos/mug/00.jpg
    python examples/studio_client.py http://127.0.0.1:8000 "" new.jpg

The first learns that the image shows a mug. The second has no label: it asks what it shows.
"""

import json
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

address, label, image = sys.argv[1:]
path = f"api/lessons?label={quote(label)}" if label else "api/look"
request = Request(f"{address.rstrip('/')}/{path}", Path(image).read_bytes())
request.add_header("Content-Type", "application/octet-stream")
try:
    said = json.load(urlopen(request))
except HTTPError as error:
    sys.exit(json.load(error)["error"])
print(said["what"] if label else f"{said['label']} {said['score']:.2f}, known: {said['known']}")
