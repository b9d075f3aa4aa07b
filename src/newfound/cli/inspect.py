"""`newfound inspect`: what a model knows."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.cli.kept import kept_state
from newfound.cli.models import opened
from newfound.cli.options import Json, Model
from newfound.cli.talk import emit, many, print_table, shortened, size

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser


def inspect(model: Model, as_json: Json = False) -> None:
    """Show what a model knows and what it has chosen.

    \b
    newfound inspect kitchen.newfound
    newfound inspect kitchen.newfound --json
    """
    found = _found(opened(model), model)
    if as_json:
        emit(json.dumps(found))
        return
    lines = [
        [label, count, f"{found['recoding'][label]:.2f}"]
        for label, count in found["classes"].items()
    ]
    print_table(["class", "images", "recoding"], lines, 2)
    bound = found["unknown_above"]
    rows = [
        ["penalty", f"{found['penalty']:.4g}"],
        ["features", found["features"]],
        ["extractor", found["extractor_name"] or "not known"],
        ["unknown above", "no bound" if bound is None else f"novelty {bound:.3f}"],
        ["remembers", many(found["remembers"], "image")],
        ["estimator", found["estimator"]],
        ["file", size(found["bytes"])],
    ]
    if found["undo_bytes"] is not None:
        kept = found["undo_bytes"]
        rows.append(["undo", size(kept) if kept else "back to no model"])
    # A name from a stranger's file may be of any length.
    print_table(
        ["", ""], [[name, shortened(str(value), 400)] for name, value in rows], 0, fold=True
    )


def _found(recogniser: "Recogniser", path: Path) -> dict[str, Any]:
    model = recogniser.model
    kept = kept_state(Path(os.path.realpath(path)))
    labels = list(map(str, model.classes_.tolist()))
    recoding = getattr(model, "recoding_", None)
    if recoding is None:
        recoding = [model.recoding] * len(labels)
    return {
        "classes": dict(zip(labels, model.class_count_.tolist(), strict=True)),
        "extractor": None if model.extractor_ is None else model.extractor_.to_json(),
        "extractor_name": None if model.extractor_ is None else str(model.extractor_),
        "penalty": float(getattr(model, "penalty_", None) or model.penalty),
        "recoding": dict(zip(labels, map(float, recoding), strict=True)),
        "features": model.n_features_in_,
        "unknown_above": recogniser.unknown_above,
        "remembers": len(recogniser.memory),
        "estimator": type(model).__name__,
        "parameters": model.to_state().parameters,
        "bytes": path.stat().st_size,
        "undo_bytes": None if kept is None else kept.stat().st_size,
    }
