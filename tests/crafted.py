"""Model files with right checksums and whatever else one likes to put into them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

NO_DIGEST = "0" * 64


def taken_apart(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the tensors of a model file."""
    with safetensors.safe_open(path, "np") as file:
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
        return json.loads(file.metadata()["newfound"]), tensors


def put_together(path: Path, header: dict[str, Any], tensors: dict[str, Any]) -> None:
    """Write a model file with the checksum that it should have."""
    header = {"sha256": NO_DIGEST} | {key: header[key] for key in header if key != "sha256"}
    data = bytearray(safetensors.numpy.save(tensors, {"newfound": json.dumps(header)}))
    mark = b'\\"sha256\\": \\"'
    place = data.index(mark + NO_DIGEST.encode()) + len(mark)
    data[place : place + 64] = hashlib.sha256(data).hexdigest().encode()
    path.write_bytes(data)


def craft(
    model: Any,
    path: Path,
    header: dict[str, Any] | None = None,
    tensors: dict[str, Any] | None = None,
) -> None:
    """Save a model with parts of its header replaced and functions applied to its tensors."""
    model.save(path)
    told, held = taken_apart(path)
    for key, value in (header or {}).items():
        told[key] = told[key] | value if key == "parameters" and value else value
    for name, function in (tensors or {}).items():
        held[name] = function(held[name])
    put_together(path, told, held)
