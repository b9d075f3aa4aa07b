"""`newfound inspect`: what a model knows."""

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.cli.console import emit, plural, print_table, shortened, size
from newfound.cli.models import open_recogniser
from newfound.cli.options import Json, Model
from newfound.recognition.beside import journal_file
from newfound.recognition.undo import undo_state

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser


def inspect(model: Model, as_json: Json = False) -> None:
    """Show the classes and parameters of a model.

    \b
    newfound inspect kitchen.newfound
    newfound inspect kitchen.newfound --json
    """
    recogniser = open_recogniser(model)
    facts, why = _facts(recogniser, model), recogniser.cannot_tell_unknown
    if as_json:
        emit(json.dumps(facts))
        return
    recoding = facts["recoding"]
    lines = [[label, n, f"{recoding[label]:.2f}"] for label, n in facts["classes"].items()]
    print_table(["class", "images", "recoding"], lines, 2)
    bound = f"{facts['unknown_above']:g}" if why is None else f"cannot tell yet: {why}"
    rows = {
        "penalty": f"{facts['penalty']:.4g}",
        "features": facts["features"],
        "extractor": facts["extractor_name"] or "not known",
        "sharpness": f"{facts['sharpness']:.4g}",
        "unknown above": bound,
        "remembers": plural(facts["remembers"], "image"),
        "estimator": facts["estimator"],
        "file": size(facts["bytes"]),
    }
    if facts["layer"] is not None:
        rows["layer"] = _in_words(facts["layer"])
    if facts["journal_bytes"] is not None:
        rows["journal"] = size(facts["journal_bytes"])
    if facts["undo_bytes"] is not None:
        rows["undo"] = size(facts["undo_bytes"]) if facts["undo_bytes"] else "back to no model"
    # A name from a stranger's file may be of any length.
    cells = [[name, shortened(str(value), 400)] for name, value in rows.items()]
    print_table(["", ""], cells, 0, fold=True)


def _facts(recogniser: "Recogniser", path: Path) -> dict[str, Any]:
    model, identity = recogniser.model, recogniser.identity
    kept, journal = undo_state(Path(os.path.realpath(path))), journal_file(path)
    labels = list(map(str, model.classes_.tolist()))
    recoding = getattr(model, "recoding_", None)
    if recoding is None:
        recoding = [model.recoding] * len(labels)
    return {
        "classes": dict(zip(labels, model.class_count_.tolist(), strict=True)),
        "extractor": None if identity is None else identity.to_json(),
        "extractor_name": None if identity is None else str(identity),
        "penalty": float(getattr(model, "penalty_", None) or model.penalty),
        "recoding": dict(zip(labels, map(float, recoding), strict=True)),
        "features": model.n_features_in_,
        "sharpness": model.calibration_.sharpness,
        "unknown_above": recogniser.unknown_above,
        "can_tell_unknown": recogniser.cannot_tell_unknown is None,
        "remembers": len(recogniser.taught),
        "estimator": type(model).__name__,
        "parameters": model.learner_.to_state().parameters,
        "layer": _layer(model),
        "bytes": path.stat().st_size if path.exists() else 0,
        "journal_bytes": journal.stat().st_size if journal.exists() else None,
        "undo_bytes": None if kept is None else kept.stat().st_size,
    }


def _layer(model: Any) -> dict[str, Any] | None:
    """Return what is to be said of the layer; None: it has none, and will have none."""
    memory = model.learner_.engine.memory
    if not memory.units:
        return None
    advantage = getattr(model, "layer_advantage_", math.nan)
    return {
        "units": memory.units,
        "made": not memory.is_young,
        "used": model.layer_ is not None,
        "advantage": None if math.isnan(advantage) else advantage,
    }


def _in_words(layer: dict[str, Any]) -> str:
    from newfound.layers.layer import FIRST_ROWS

    units = f"{layer['units']:,} units"
    if not layer["made"]:
        return f"{units}, to be made of the first {FIRST_ROWS} images"
    words = f"{units}, {'used' if layer['used'] else 'not used'}"
    if layer["advantage"] is not None:
        words += f" (advantage: {layer['advantage']:.1f} standard errors)"
    return words
