"""Writes model files, and what the models in them answer.

Once a version is out, its files are readable for ever. Before a format changes, keep the files
that the old one wrote:

    python tests/storage/golden/make.py tests/storage/golden/<format>

The folder gets one file for each case below, and `expected.json` with the answers.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import newfound
from newfound import IncrementalRidgeClassifier

CASES: dict[str, Callable[[Path], None]] = {}
WIDTH, QUESTIONS = 6, np.random.default_rng(99).normal(size=(8, 6))


def case(make: Callable[[Path], None]) -> Callable[[Path], None]:
    CASES[make.__name__] = make
    return make


def rows(labels: Any, seed: int) -> Any:
    """Rows (n, d) that tell a little about their labels."""
    kinds = {label: place for place, label in enumerate(sorted(set(labels)))}
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(labels), WIDTH)) + np.eye(8, WIDTH)[[kinds[y] for y in labels]]


@case
def plain(path: Path) -> None:
    y = ["mug", "cup", "mug", "jug", "cup"] * 9
    model = IncrementalRidgeClassifier(0.5, 0.3).fit(rows(y, 0), y)
    model.partial_fit(rows(["bowl"], 1), ["bowl"]).save(path)


@case
def of_weighted_examples(path: Path) -> None:
    y = ["mug", "cup", "jug"] * 15
    weights = np.random.default_rng(20).uniform(0.2, 3.0, 45)
    model = IncrementalRidgeClassifier().fit(rows(y, 21).astype(np.float32), y, weights)
    model.partial_fit(rows(["bowl"], 1), ["bowl"]).save(path)


@case
def chosen_of_weighted_examples(path: Path) -> None:
    y = ["mug", "cup", "jug"] * 30
    weights = np.random.default_rng(22).uniform(0.2, 3.0, 90)
    newfound.IncrementalRidgeClassifierCV(witnesses=9).fit(rows(y, 23), y, weights).save(path)


@case
def single(path: Path) -> None:
    y = ["mug", "cup", "jug"] * 15
    IncrementalRidgeClassifier().fit(rows(y, 2).astype(np.float32), y).save(path)


@case
def balanced(path: Path) -> None:
    """Rows of the rare class are held as they are; those of the other two are added up."""
    y = ["mug", "cup"] * 20 + ["jug", "jug"]
    IncrementalRidgeClassifier(class_weight="balanced").fit(rows(y, 3), y).save(path)


@case
def behind_a_layer(path: Path) -> None:
    y = ["mug", "cup", "jug"] * 40
    IncrementalRidgeClassifier(layer=12).fit(rows(y, 24), y).save(path)


@case
def before_its_layer(path: Path) -> None:
    y = ["mug", "cup", "jug"] * 20
    newfound.IncrementalClassifier(layer=12, witnesses=9).fit(rows(y, 25), y).save(path)


@case
def chosen_behind_a_layer_that_was_given(path: Path) -> None:
    y = ["mug", "cup", "jug"] * 40
    layer = newfound.Layer.of(rows(y, 26), units=12, seed=3)
    newfound.IncrementalClassifier(layer, witnesses=9).fit(rows(y, 27), y).save(path)


@case
def weighted(path: Path) -> None:
    y = ["mug", "cup"] * 20 + ["jug"]
    model = IncrementalRidgeClassifier(class_weight={"jug": 3.0}, fit_intercept=False)
    model.fit(rows(y, 4), y).save(path)


@case
def whole_numbers(path: Path) -> None:
    y = [7, -3, 10**12] * 12
    IncrementalRidgeClassifier().fit(rows(y, 5), y).save(path)


@case
def booleans(path: Path) -> None:
    y = [True, False, False] * 12
    IncrementalRidgeClassifier().fit(rows(y, 6), y).save(path)


@case
def unicode(path: Path) -> None:
    """Two of these labels can be taught no more, but files may have them."""
    y = ["杯", "Krüge", "", "a\nb", 'a"b\\'] * 8
    model = IncrementalRidgeClassifier()
    model.learner_.learn(rows(y, 7), y, anew=True, any_label=True)
    model.save(path)


@case
def after_large_rows(path: Path) -> None:
    """What rounding left of rows that are gone makes X'X indefinite, which the peaks tell."""
    y = ["mug", "cup"] * 40
    few = np.repeat(rows(y[:3], 8), 30, axis=0)
    model, large = IncrementalRidgeClassifier().fit(few, np.repeat(y[:3], 30)), 1e6 * rows(y, 9)
    model.partial_fit(large, y).forget(large, y).save(path)


@case
def named_features(path: Path) -> None:
    import pandas as pd

    y = ["mug", "cup"] * 9
    columns = ["weight", "höhe", "red", "green", "blue", "x"]
    model = IncrementalRidgeClassifier()
    model.fit(pd.DataFrame(rows(y, 10), columns=columns), y).save(path)


@case
def chosen(path: Path) -> None:
    model = newfound.IncrementalRidgeClassifierCV(penalties=[0.1, 10.0], recodings=(0.0, 0.5, 1.0))
    y = ["mug", "cup", "jug"] * 40 + ["bowl"] * 4
    model.fit(rows(y, 11), y)
    model.predict(QUESTIONS)
    model.partial_fit(rows(["bowl"], 12), ["bowl"]).save(path)


@case
def chosen_by_the_paper(path: Path) -> None:
    """More examples than witnesses, in single precision, some forgotten."""
    model = newfound.IncrementalRidgeClassifierCV(
        [0.1, 10.0], (0.0, 1.0), rule="paper", witnesses=5, class_weight={}, min_class_count=6
    )
    y = ["mug", "cup"] * 30 + ["bowl"] * 4
    X = rows(y, 15).astype(np.float32)
    model.fit(X, y).forget(X[:3], y[:3]).save(path)


@case
def chosen_without_scores(path: Path) -> None:
    model = newfound.IncrementalRidgeClassifierCV(witnesses=4)
    model.fit(rows(["mug", "cup", "mug"], 16), ["mug", "cup", "mug"]).save(path)


@case
def while_a_selection_is_pending(path: Path) -> None:
    """It began at 64 examples, and does not count yet at 66."""
    model = newfound.IncrementalRidgeClassifierCV(witnesses=8, min_class_count=6)
    y = ["mug", "cup", "jug"] * 22
    for row, label in zip(rows(y, 17), y, strict=True):
        model.partial_fit(row[None], [label])
    model.save(path)


@case
def regression(path: Path) -> None:
    X = rows(["a"] * 30, 18)
    newfound.IncrementalRidge().fit(X, X @ np.arange(WIDTH), np.full(30, 0.5)).save(path)


@case
def regression_of_a_chosen_penalty(path: Path) -> None:
    X = rows(["a"] * 30, 19)
    newfound.IncrementalRidge("auto", witnesses=9).fit(X, X[:, :2] @ np.ones((2, 3))).save(path)


@case
def remembered(path: Path) -> None:
    """A recogniser's: with an extractor, and the digests of the images taught."""
    from newfound.features import Pixels

    rng = np.random.default_rng(14)
    images = [rng.integers(0, 256, (4, 4), dtype=np.uint8) for _ in range(24)]
    recogniser = newfound.Recogniser(
        extractor=Pixels(size=2),
        model=newfound.IncrementalRidgeClassifierCV([1.0, 10.0], (0.0, 0.5)),
    )
    digests = [bytes([place]) * 16 for place in range(24)]
    vectors, identity = Pixels(size=2)(images), Pixels(size=2).identity
    recogniser.teach_vectors(vectors, ["day", "night"] * 12, digests, identity)
    recogniser.save(path)


def questions(model: Any) -> Any:
    """Rows to ask a model about, as it likes them."""
    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        return pd.DataFrame(QUESTIONS, columns=model.feature_names_in_)
    if model.n_features_in_ == WIDTH:
        return QUESTIONS
    return np.random.default_rng(99).uniform(size=(8, model.n_features_in_))


def answers(model: Any) -> dict[str, Any]:
    """What a model says of itself and of a few rows, as JSON has it."""
    X, parameters = questions(model), model.get_params()
    said = {
        "kind": type(model).__name__,
        "parameters": {
            name: list(value) if isinstance(value, tuple) else plain_or_units(value)
            for name, value in parameters.items()
        },
        "dtype": model.coef_.dtype.str,
        "predict": model.predict(X).tolist(),
    }
    if hasattr(model, "classes_"):
        said |= {
            "classes": model.classes_.tolist(),
            "counts": model.class_count_.tolist(),
            "scores": model.scores(X).astype(float).tolist(),
            "novelty": model.novelty(X).tolist(),
            "unknown": model.unknown_proba(X).tolist(),
        }
    if hasattr(model, "recoding_"):
        said |= {"penalty_": float(model.penalty_), "recoding_": model.recoding_.tolist()}
    if hasattr(model, "feature_names_in_"):
        said["feature_names"] = list(model.feature_names_in_)
    return said


def plain_or_units(value: Any) -> Any:
    return f"{value.units} given units" if isinstance(value, newfound.Layer) else value


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, make in CASES.items():
        path = folder / f"{name}.model"
        make(path)
        expected[name] = answers(newfound.load(path))
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    (folder / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
