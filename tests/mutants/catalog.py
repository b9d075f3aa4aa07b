"""The mutants: one-line breakages, of the kinds that careless people make, in every room.

They were chosen by reading the source alone, without a look at the tests. Each changes something
that users would mind: a number, a file, an exit code, what is refused, what is kept. A mutant that
no test catches is a behaviour that nobody would miss if it broke.
"""

from pathlib import PurePosixPath
from typing import NamedTuple

PACKAGE = PurePosixPath("src/newfound")


class Mutant(NamedTuple):
    """A breakage of one line."""

    name: str  # unique
    path: str  # of a file, below src/newfound
    old: str  # a line or a part of one, which is there once
    new: str  # what stands there instead
    why: str  # what users would notice

    @property
    def file(self) -> PurePosixPath:
        """The file, below the root of the tree."""
        return PACKAGE / self.path

    @property
    def room(self) -> str:
        """The room that it is of, as import-linter's contract calls them."""
        return PurePosixPath(self.path).parts[0].removesuffix(".py")

    def applied(self, text: str) -> str:
        """Return the text of the file with this breakage, or raise ValueError."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: {self.path} has {self.old!r} {found} times, not once")
        return text.replace(self.old, self.new)


_COMMON = (
    Mutant(
        "write-not-synced",
        "common/files.py",
        "            os.fsync(file.fileno())",
        "            pass",
        "after a power cut a saved model may be an empty file",
    ),
    Mutant(
        "write-not-renamed",
        "common/files.py",
        "temporary.replace(path)",
        "shutil.copyfile(temporary, path)",
        "who reads or dies while a model is saved has half a file",
    ),
    Mutant(
        "write-older-wins",
        "common/files.py",
        "if of < _placed.get(path, 0):",
        "if of < 0:",
        "of two threads that save, the older state may stay",
    ),
    Mutant(
        "ctrl-c-swallowed",
        "common/interrupts.py",
        "number, frame = came.popitem()",
        "return",
        "Ctrl-C while something is learned is lost",
    ),
    Mutant(
        "task-error-swallowed",
        "common/threads.py",
        "        raise shared.failed[0]",
        "        return",
        "a task that failed in a thread leaves half a sum, and nobody is told",
    ),
)

_FEATURES = (
    Mutant(
        "exif-orientation-ignored",
        "features/images.py",
        "ImageOps.exif_transpose(image, in_place=True)",
        "ImageOps.exif_transpose(image)",
        "photos of phones lie on their side",
    ),
    Mutant(
        "crop-from-corner",
        "features/preprocessing.py",
        "left, top = ((length - side) / 2 for length in image.size)",
        "left, top = (0.0 for length in image.size)",
        "the crop is of the upper left corner, not of the centre",
    ),
    Mutant(
        "bgr-mean-not-turned",
        "features/preprocessing.py",
        'order = order[::-1] if self.channels == "bgr" else order',
        "order = order.copy()",
        "networks for BGR have the mean of red taken from blue",
    ),
    Mutant(
        "catalog-root-overridden",
        "features/catalog.py",
        'options.setdefault("root", root)',
        'options["root"] = root',
        "root=no in an extractor's name does nothing",
    ),
    Mutant(
        "catalog-crop-ignored",
        "features/catalog.py",
        'EfficientNetLite0(output, crop=options["crop"], root=identity.root)',
        "EfficientNetLite0(output, root=identity.root)",
        "a model taught with another crop cannot be asked any more",
    ),
    Mutant(
        "stream-out-of-order",
        "features/extractor.py",
        "yield from coming.popleft().result()",
        "yield from coming.pop().result()",
        "of many images, the vectors belong to other images",
    ),
    Mutant(
        "root-without-sign",
        "features/root.py",
        "signed: NDArray[np.floating[Any]] = np.copysign(roots, X)",
        "signed: NDArray[np.floating[Any]] = roots",
        "roots of negative features are positive",
    ),
)

_DATASETS = (
    Mutant(
        "label-of-last-folder",
        "datasets/folder.py",
        'label = parents[0] if labels == "first"',
        'label = parents[-1] if labels == "first"',
        "images in mug/blue are taught as blue",
    ),
    Mutant(
        "suffix-in-capitals",
        "datasets/folder.py",
        "elif path.suffix.lower() not in SUFFIXES:",
        "elif path.suffix not in SUFFIXES:",
        "IMG_1.JPG is passed over",
    ),
    Mutant(
        "cache-of-another-extractor",
        "datasets/cached.py",
        "mark = json.dumps([extractor.identity.to_json(), names]).encode()",
        "mark = json.dumps([names]).encode()",
        "the cache hands out vectors that another extractor made",
    ),
    Mutant(
        "vectors-bomb-unpacked",
        "datasets/vectors_file.py",
        "if unpacked > most:",
        "if unpacked < 0:",
        "a small file of vectors may fill all memory",
    ),
)

_SUMS = (
    Mutant(
        "cross-without-weights",
        "sums/sums.py",
        "terms = self._cross.terms(X, index, exact, sample_weight, self.origin)",
        "terms = self._cross.terms(X, index, exact, None, self.origin)",
        "weights of examples count in X'X alone",
    ),
    Mutant(
        "merge-wrong-class",
        "sums/sums.py",
        "self.grams[index[there] if self.per_class else 0].merge(gram)",
        "self.grams[there if self.per_class else 0].merge(gram)",
        "models whose classes came in another order are merged crosswise",
    ),
    Mutant(
        "forget-one-too-many",
        "sums/removal.py",
        "short = np.flatnonzero(counts < 0)",
        "short = np.flatnonzero(counts < -1)",
        "one example more than was taught can be forgotten",
    ),
    Mutant(
        "stale-total-after-forgetting",
        "sums/sums.py",
        "self.counts, self._added_up = counts, None",
        "self.counts = counts",
        "forgotten rows stay in the sum over all classes",
    ),
    Mutant(
        "true-is-one",
        "sums/classes.py",
        "check_same_type(self.labels, y)  # 1 and True",
        "pass  # 1 and True",
        "True is learned as the class 1",
    ),
    Mutant(
        "double-taken-for-single",
        "sums/sums.py",
        "return new if known is None or known == new else np.dtype(np.float64)",
        "return new if known is None or known == new else known",
        "a model of float32 rows stays one when float64 rows come",
    ),
    Mutant(
        "minus-zero-not-found",
        "sums/buffer.py",
        "zip(rows + 0.0, weights",
        "zip(rows, weights",
        "a row that holds -0.0 cannot be forgotten",
    ),
    Mutant(
        "class-removal-unchecked",
        "sums/removal.py",
        "add_products(left, X, -1.0, gram.device)",
        "add_products(left, X, 1.0, gram.device)",
        "rows that were never taught of a class can be forgotten",
    ),
    Mutant(
        "sparse-blocks-too-large",
        "sums/sparse.py",
        "return max(1, BLOCK_BYTES // (8 * max(1, OUTPUTS if width > MOST_FEATURES else width)))",
        "return max(1, BLOCK_BYTES // max(1, OUTPUTS if width > MOST_FEATURES else width))",
        "sparse rows take eight times the memory that was promised",
    ),
)

_LAYERS = (
    Mutant(
        "layer-seed-ignored",
        "layers/units.py",
        "np.array([seed, block], dtype=np.uint64)",
        "np.array([0, block], dtype=np.uint64)",
        "all models have the same units, whatever their seed",
    ),
    Mutant(
        "layer-blocks-alike",
        "layers/units.py",
        "np.array([seed, block], dtype=np.uint64)",
        "np.array([seed, 0], dtype=np.uint64)",
        "of two thousand units sixty-four are different",
    ),
    Mutant(
        "layer-depends-on-the-batch",
        "layers/layer.py",
        "z = xp.round(xp.clip(z, -FARTHEST, FARTHEST) * (1 / STEP)) * STEP",
        "z = xp.clip(z, -FARTHEST, FARTHEST)",
        "what was learned among others cannot be forgotten alone",
    ),
    Mutant(
        "layer-without-bias",
        "layers/layer.py",
        "units = xp.abs(z @ weights + bias)",
        "units = xp.abs(z @ weights)",
        "a layer cannot tell a ring from a larger one",
    ),
    Mutant(
        "layer-counts-the-future",
        "memory/memory.py",
        "return self.is_young and self.sums.total >= FIRST_ROWS",
        "return False",
        "merged young models never get the layer that they asked for",
    ),
)

_SOLVERS = (
    Mutant(
        "row-not-centred",
        "solvers/state.py",
        "root = (weight * (before / after)) ** 0.5",
        "root = weight**0.5",
        "rows that come one by one give other weights than all at once",
    ),
    Mutant(
        "batch-intercept-sign",
        "solvers/state.py",
        "            self.mean += shift",
        "            self.mean -= shift",
        "intercepts are wrong after a small batch",
    ),
    Mutant(
        "leverage-without-intercept",
        "solvers/recursive.py",
        "return values + 1 / self.kernel.weight_sum if self.fit_intercept else values",
        "return values",
        "novelty is too small by what the intercept adds",
    ),
    Mutant(
        "rebuild-with-every-row",
        "solvers/recursive.py",
        "self._most = max(1, sums.width // 3)",
        "self._most = 0",
        "learning a row takes the time of an inversion: no fixed time",
    ),
    Mutant(
        "rebalanced-difference-dropped",
        "solvers/weighted.py",
        "grams[place].add_to(weighted, new[place] - old[place])",
        "grams[place].add_to(weighted, new[place])",
        "balanced models drift away with every row",
    ),
    Mutant(
        "balanced-counts-announced",
        "solvers/weighted.py",
        "return float(weight_sums.sum() / np.count_nonzero(weight_sums))",
        "return float(weight_sums.sum() / len(weight_sums))",
        "a class that was announced and never taught changes balanced weights",
    ),
    Mutant(
        "class-weight-default-zero",
        "solvers/weighted.py",
        "self.class_weight.get(label, 1.0)",
        "self.class_weight.get(label, 0.0)",
        "classes that class_weight does not name count nothing",
    ),
    Mutant(
        "single-keeps-double-rows",
        "solvers/inverse.py",
        "return not self.is_single or (X.dtype == np.float32 and self.is_in_range)",
        "return True",
        "float64 rows are learned with seven digits",
    ),
    Mutant(
        "forgets-forwards",
        "solvers/inverse.py",
        "self._subtract(gain.T, sign)",
        "self._subtract(gain.T, 1)",
        "forgetting a row makes the model surer of it",
    ),
    Mutant(
        "device-cross-unweighted",
        "solvers/device.py",
        "return self.sums.cross * self.device.put(self._class_weights())[None, :]",
        "return self.sums.cross",
        "on a device, class weights count in X'X alone",
    ),
    Mutant(
        "regression-weights-ignored",
        "solvers/regression.py",
        "1 - weights * leverage",
        "1 - leverage",
        "the regressor's penalty is chosen as if all weights were one",
    ),
)

_HEADS = (
    Mutant(
        "recoding-exponent-dropped",
        "heads/recoding.py",
        "factors = (usual / weight_sums) ** recoding",
        "factors = usual / weight_sums",
        "every recoding recodes in full",
    ),
    Mutant(
        "untaught-class-recoded",
        "heads/recoding.py",
        "taught = weight_sums > 0",
        "taught = weight_sums >= 0",
        "a class that was announced and never taught changes all factors",
    ),
    Mutant(
        "sharpness-without-weights",
        "heads/probabilities.py",
        "share = np.ones(len(truth)) if weights is None else weights / weights.mean()",
        "share = np.ones(len(truth))",
        "probabilities are calibrated as if all witnesses stood for as many",
    ),
    Mutant(
        "unknown-bound-too-high",
        "heads/unknown.py",
        "bound = min(between, float(np.quantile(known, MOST_MISTAKEN)))",
        "bound = max(between, float(np.quantile(known, MOST_MISTAKEN)))",
        "known things are called unknown more often than one in ten",
    ),
)

_SELECTION = (
    Mutant(
        "witness-loses-one",
        "memory/reservoir.py",
        "weights[place] -= weight",
        "weights[place] -= 1.0",
        "a heavy row that is forgotten still counts",
    ),
    Mutant(
        "equal-witnesses-not-added",
        "memory/reservoir.py",
        "weights[own] += other.weights[place]",
        "pass",
        "a row that comes twice counts as one, and samples of two streams differ",
    ),
    Mutant(
        "full-sample-taken-for-all",
        "memory/reservoir.py",
        "last = self.ranks[-1] if self.size >= cap else inf",
        "last = self.ranks[-1] if self.size > cap else inf",
        "heavy rows count too much once a class has more rows than witnesses",
    ),
    Mutant(
        "taught-witnesses-vote",
        "selection/validation.py",
        "(self.ranks >= count)",
        "(self.ranks >= 0)",
        "rows that the scenario was taught are scored by it: recodings are too small",
    ),
    Mutant(
        "prior-not-around-usual",
        "selection/rules.py",
        "squares = np.log10(penalties / expected) ** 2",
        "squares = np.log10(penalties) ** 2",
        "the chosen penalty depends on the unit of the features",
    ),
    Mutant(
        "paper-rule-first",
        "selection/rules.py",
        "recoding = int(np.flatnonzero(lost <= tolerance + ROUNDING)[-1])",
        "recoding = int(np.flatnonzero(lost <= tolerance + ROUNDING)[0])",
        "the paper's rule never recodes",
    ),
    Mutant(
        "unknown-with-own-class",
        "selection/calibration.py",
        "left_out_cosines(basis, group, of_class, with_class=True, shares=shares)",
        "left_out_cosines(basis, group, of_class, with_class=False, shares=shares)",
        "the bound of the unknown is drawn from known rows",
    ),
    Mutant(
        "findings-keep-old-name",
        "selection/selector.py",
        "self.latest = self.latest.rename(old, new)",
        "self.latest = self.latest._replace()",
        "a renamed class loses what is typical of it",
    ),
)

_ENGINE = (
    Mutant(
        "choice-interrupted",
        "engine/engine.py",
        "memory.add(batch, partial(self.choice.follow, plan, memory))",
        "memory.add(batch); self.choice.follow(plan, memory)",
        "after Ctrl-C rows are learned, but not counted where parameters are chosen",
    ),
    Mutant(
        "stale-measures",
        "engine/engine.py",
        "self._calibration = self._known_metric = self._predictor = None",
        "self._calibration = self._predictor = None",
        "the unknown is told by what the model was before the last lesson",
    ),
    Mutant(
        "forgotten-witness-stays",
        "memory/memory.py",
        "left = self.witnesses.remove(on_host(batch.rows), batch.y, batch.weights)",
        "left = self.witnesses",
        "rows that were forgotten are still kept, saved and asked",
    ),
    Mutant(
        "merge-loses-witnesses",
        "memory/memory.py",
        "self.witnesses = self.witnesses.merge(other.witnesses, cap)",
        "pass",
        "in a merged model only one side chooses parameters",
    ),
    Mutant(
        "intercept-change-ignored",
        "engine/engine.py",
        "key = (settings.class_weight, settings.fit_intercept, uses_layer)",
        "key = (settings.class_weight, uses_layer)",
        "set_params(fit_intercept=False) does nothing to a model that was asked before",
    ),
    Mutant(
        "regression-votes-alike",
        "selection/penalty.py",
        "lost = squares @ sample.adjusted_weights(settings.witnesses)",
        "lost = squares.sum(axis=1)",
        "the regressor's penalty is chosen as if all rows weighed the same",
    ),
    Mutant(
        "regression-stale-answers",
        "selection/penalty.py",
        "    def forgot(self, batch: Batch, vanished: Index, memory: Memory) -> None:\n",
        "    def forgotten(self, batch: Batch, vanished: Index, memory: Memory) -> None:\n",
        "the regressor keeps a penalty that rows chose that are no more",
    ),
)

_STORAGE = (
    Mutant(
        "checksum-not-compared",
        "storage/format.py",
        "if expected.hexdigest() != digest:",
        "if len(expected.hexdigest()) != len(digest):",
        "a damaged model is loaded, and answers wrongly",
    ),
    Mutant(
        "labels-twice",
        "storage/format.py",
        'require(len(set(header["labels"])) == len(labels), "labels")',
        'require(len(set(header["labels"])) <= len(labels), "labels")',
        "a file with the same label twice is loaded",
    ),
    Mutant(
        "light-witnesses-lost",
        "storage/model.py",
        "if (weights != 1).any():",
        "if (weights > 1).any():",
        "weights below one are lost when a model is saved",
    ),
    Mutant(
        "forgotten-share-lost",
        "storage/selection.py",
        "selector.forgotten = float(",
        "selector.forgotten = 0.0 * float(",
        "a loaded model chooses anew at other moments than the one that was saved",
    ),
    Mutant(
        "widened-in-wrong-corner",
        "storage/widening.py",
        "square[:old, :old] = lapack",
        "square[new - old :, new - old :] = lapack",
        "old features are taken for new ones once there are more",
    ),
)

_DISTRIBUTED = (
    Mutant(
        "dask-witnesses-unweighted",
        "memory/memory.py",
        "witnesses = self.witnesses.add(on_host(batch.rows), batch.y, cap, batch.weights)",
        "witnesses = self.witnesses.add(on_host(batch.rows), batch.y, cap)",
        "parameters are chosen as if all weights were one",
    ),
    Mutant(
        "layer-scale-each-feature",
        "layers/scale.py",
        "scale = units / np.clip(units, 1 / UNALIKE, UNALIKE)",
        "scale = units / np.clip(units, 1, 1)",
        "pixels that hardly vary count as much as all others",
    ),
    Mutant(
        "layer-judged-late",
        "selection/selector.py",
        "return [FIRST_ROWS + 1, *firsts]",
        "return [2 * FIRST_ROWS, *firsts]",
        "a layer is there for a hundred rows before anybody asks whether it pays",
    ),
    Mutant(
        "signals-never-wait-again",
        "common/interrupts.py",
        "if self.handlers:  # where all signals are ignored, none waits",
        "if True:",
        "once signals were ignored, a block that was left stays open for ever",
    ),
    Mutant(
        "dask-labels-missing",
        "distributed/learning.py",
        "if not length(X) and not length(y):",
        "if not length(X) or not length(y):",
        "a partition of rows that has lost its labels is left out without a word",
    ),
    Mutant(
        "dask-codes-too-small",
        "distributed/collections.py",
        ".astype(np.min_scalar_type(len(distinct)))",
        ".astype(np.int8)",
        "with more than 128 classes, labels in memory are mixed up",
    ),
    Mutant(
        "dask-accuracy-of-rows",
        "distributed/answers.py",
        "return np.array([weights @ (predicted == labels), weights.sum()])",
        "return np.array([weights @ (predicted == labels), len(labels)])",
        "a weighted score is no share",
    ),
)

_ESTIMATORS = (
    Mutant(
        "intercept-not-recoded",
        "solvers/state.py",
        "return ((times(self.columns, X[0] - self.mean) + self.targets) * factors)[None]",
        "return (times(self.columns, X[0] - self.mean) * factors + self.targets)[None]",
        "rare classes are recoded by half",
    ),
    Mutant(
        "scores-not-sorted",
        "engine/predictor.py",
        "            scores = scores[:, self.order]",
        "            pass",
        "classes that did not come in order answer for each other",
    ),
    Mutant(
        "decision-sign",
        "engine/predictor.py",
        "return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores",
        "return scores[:, 0] - scores[:, 1] if scores.shape[1] == 2 else scores",
        "decision_function of two classes points at the other one",
    ),
    Mutant(
        "left-out-sign",
        "engine/engine.py",
        "scores[np.arange(len(scores)), own] -= share",
        "scores[np.arange(len(scores)), own] += share",
        "confusions never show a mistake",
    ),
    Mutant(
        "reconsidering-loses-lessons",
        "learner/learner.py",
        "if self.version == version:",
        "if self.version[0] == version[0]:",
        "what is taught while parameters are chosen apart is lost",
    ),
    Mutant(
        "forgets-in-part",
        "learner/learner.py",
        "engine, parts = engine.copy(), batches(",
        "engine, parts = engine, batches(",
        "sparse rows of which some were never taught are forgotten in part",
    ),
    Mutant(
        "sparse-weights-dropped",
        "learner/schema.py",
        "yield rows, y[place], own",
        "yield rows, y[place], None",
        "weights of long sparse lessons are ignored",
    ),
    Mutant(
        "nan-taken",
        "estimators/schema.py",
        "if is_plain and np.vdot(X, X) < (LARGEST_SQUARE if X.dtype == DTYPES[0] else np.inf):",
        "if is_plain:",
        "one NaN in a row destroys the model",
    ),
    Mutant(
        "regressor-shape-changes",
        "estimators/schema.py",
        "        if not self.targets:\n",
        "        if self.targets is not None:\n",
        "a later batch changes the shape of predictions",
    ),
)

_RECOGNITION = (
    Mutant(
        "same-image-taught-twice",
        "recognition/lesson.py",
        "return self.recogniser.taught.count(*key) + waiting < example.nth",
        "return self.recogniser.taught.count(*key) < example.nth",
        "copies of a photo in one folder all count",
    ),
    Mutant(
        "undo-not-inverted",
        "recognition/replay.py",
        "return [(number, after, before) for number, before, after in rows]",
        "return [(number, before, after) for number, before, after in rows]",
        "undo does once more what it should take back",
    ),
    Mutant(
        "undo-in-wrong-order",
        "recognition/journal_history.py",
        "rows = [row for entry in reversed(entries) for row in replay.inverse(entry.rows)]",
        "rows = [row for entry in entries for row in replay.inverse(entry.rows)]",
        "what was moved twice in one action comes back to the wrong class",
    ),
    Mutant(
        "replay-skips-an-entry",
        "recognition/journal_history.py",
        "for entry in self.journal.entries(position):",
        "for entry in self.journal.entries(position + 1):",
        "after a crash one acknowledged lesson is missing",
    ),
    Mutant(
        "open-questions-emptied",
        "recognition/example_table.py",
        'self._ask(f"DELETE FROM examples WHERE label IS NULL AND id NOT IN ({OPEN})")',
        'self._ask("DELETE FROM examples WHERE label IS NULL")',
        "emptying the bin takes the pictures of questions nobody has answered yet",
    ),
    Mutant(
        "failed-edit-committed",
        "recognition/journal.py",
        'self._writer.execute("ROLLBACK")',
        'self._writer.execute("COMMIT")',
        "an edit that failed comes back with the next start",
    ),
    Mutant(
        "journal-not-synced",
        "recognition/journal.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        "what was acknowledged may be gone after a power cut",
    ),
    Mutant(
        "named-question-not-reopened",
        "recognition/inbox.py",
        '(int(kind == "undo"), json.dumps(detail["of"]))',
        '(int(kind == "redo"), json.dumps(detail["of"]))',
        "a question whose answer is undone is lost",
    ),
    Mutant(
        "undo-of-another-model",
        "recognition/undo.py",
        "return kept if is_own(kept) and _differs(kept, path) and _belongs(kept, path) else None",
        "return kept if is_own(kept) and _differs(kept, path) else None",
        "undo brings back another model than the one that was changed",
    ),
    Mutant(
        "redo-after-another-command",
        "recognition/undo.py",
        "if undo_state(self.path) is None or not is_undone(self.path):",
        "if undo_state(self.path) is None:",
        "redo takes back what was done after the undo",
    ),
    Mutant(
        "undo-file-moves-on",
        "recognition/locking.py",
        "if self._aside is None or undoable > self._aside:",
        "if undoable:",
        "undo takes back only what a long lesson saved last",
    ),
    Mutant(
        "half-life-inverted",
        "recognition/evidence.py",
        "0.5 ** (passed / self.half_life)",
        "0.5 ** (passed * self.half_life)",
        "answers follow a camera too fast or too slowly",
    ),
    Mutant(
        "bound-itself-unknown",
        "recognition/knowledge.py",
        "unknown, unknown <= bound, guesses)",
        "unknown, unknown < bound, guesses)",
        "with a bound of 1 things are still called unknown",
    ),
    Mutant(
        "forgotten-class-remembered",
        "recognition/knowledge.py",
        "self.taught.drop(label)",
        "pass",
        "images of a class that was forgotten cannot be taught again",
    ),
    Mutant(
        "thumbnail-keeps-exif",
        "recognition/thumbnails.py",
        "isinstance(image, bytes) and _is_plain(image) and max(picture.size)",
        "isinstance(image, bytes) and max(picture.size)",
        "pictures that are kept tell where they were taken, and may lie on their side",
    ),
    Mutant(
        "joined-memory-lost",
        "recognition/taught.py",
        " + self.digests.get(new, Counter())",
        "",
        "after two classes were joined, images of one of them are taught again",
    ),
)

_CHECKS = (
    Mutant(
        "law-of-closeness",
        "checks.py",
        "assert far <= limit * scale,",
        "assert far >= 0,",
        "no law about numbers can fail",
    ),
    Mutant(
        "law-of-forgetting",
        "checks.py",
        'raise AssertionError("what has forgotten everything still answers")',
        "return",
        "a model that cannot forget everything passes",
    ),
    Mutant(
        "law-of-merging",
        "checks.py",
        'assert _saved(other) == before, "merging',
        'assert _saved(other), "merging',
        "a model that changes what is merged into it passes",
    ),
    Mutant(
        "law-of-storing-unlisted",
        "checks.py",
        "    check_storing_is_learning,",
        "",
        "check_model leaves out a law",
    ),
)

_RIVER = (
    Mutant(
        "river-interrupted",
        "river.py",
        "with uninterrupted():  # or a row would be in a column that the next new name gets",
        "if True:",
        "after Ctrl-C two features may share a column for ever",
    ),
    Mutant(
        "river-wrong-columns",
        "river.py",
        "rows[:, places] = values",
        "rows[:, : len(places)] = values",
        "features count by their place in a dict, not by their name",
    ),
    Mutant(
        "river-weight-ignored",
        "river.py",
        "model.partial_fit(rows, y, sample_weight=w)",
        "model.partial_fit(rows, y)",
        "w= does nothing",
    ),
    Mutant(
        "river-labels-reversed",
        "river.py",
        "by_label = dict(zip(self.model.classes_.tolist(), shares, strict=True))",
        "by_label = dict(zip(self.model.classes_.tolist()[::-1], shares, strict=True))",
        "probabilities of a frame stand in the wrong columns",
    ),
)

_PAPER = (
    Mutant(
        "trial-learns-its-test",
        "paper/protocol.py",
        "learnable = rng.permutation(np.flatnonzero(of_class & ~is_test))",
        "learnable = rng.permutation(np.flatnonzero(of_class))",
        "reported accuracies are of images that were learned",
    ),
    Mutant(
        "trial-learns-its-validation",
        "paper/protocol.py",
        'indices["known"].append(learnable[n_validation : sizes.n_bal])',
        'indices["known"].append(learnable[: sizes.n_bal])',
        "the penalty is validated on what was learned",
    ),
    Mutant(
        "published-whatever-comes",
        "paper/table.py",
        "return self.difference >= -max(POINTS, DEVIATIONS * self.paper_deviation)",
        "return self.difference >= -max(100.0, DEVIATIONS * self.paper_deviation)",
        "a failed reproduction is reported as one that came out",
    ),
    Mutant(
        "torn-record-kept",
        "paper/run.py",
        'whole = text[: text.rfind("\\n") + 1]',
        "whole = text",
        "a run that was killed while it wrote cannot be gone on with",
    ),
    Mutant(
        "run-begins-anew",
        "paper/run.py",
        "if tuple(job.key) not in done:",
        "if job not in done:",
        "a run that is gone on with does its trials again",
    ),
)

_ROBOT = (
    Mutant(
        "thinning-inverted",
        "robot/thinning.py",
        "if apart.min(initial=np.inf) <= 2 * (1 - ALIKE_FROM):",
        "if apart.min(initial=np.inf) >= 2 * (1 - ALIKE_FROM):",
        "of a video only frames that are alike are taught",
    ),
    Mutant(
        "at-most-one-more",
        "robot/thinning.py",
        "return self.at_most is not None and self.taken >= self.at_most",
        "return self.at_most is not None and self.taken > self.at_most",
        "--at-most 5 teaches six",
    ),
    Mutant(
        "stamp-in-milliseconds",
        "robot/messages.py",
        "stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec",
        "stamp = message.header.stamp.sec * 10**6 + message.header.stamp.nanosec",
        "no node can pair an answer with its image",
    ),
    Mutant(
        "frame-id-lost",
        "robot/messages.py",
        "(stamp=time, frame_id=_text(frame_id), **number)",
        '(stamp=time, frame_id="", **number)',
        "classifications do not say which camera they are of",
    ),
    Mutant(
        "hypothesis-without-doubt",
        "robot/answers.py",
        'certain = 1.0 - answer["unknown"]',
        "certain = 1.0",
        "scores that robots are sent leave out that a thing may be unknown",
    ),
    Mutant(
        "bgr-taken-for-rgb",
        "robot/encodings.py",
        'colours = pixels[:, :, :3] if how.order == "rgb" else pixels[:, :, 2::-1]',
        "colours = pixels[:, :, :3]",
        "most cameras of robots see red as blue",
    ),
    Mutant(
        "span-includes-its-end",
        "robot/labels.py",
        "time < self[index].end else None",
        "time <= self[index].end else None",
        "the first frame after a label is taught as what was before",
    ),
    Mutant(
        "old-frame-taught",
        "robot/listening.py",
        "elif arrival.time >= lesson.began:",
        "elif arrival.time >= 0:",
        "a frame from before the command is taught",
    ),
    Mutant(
        "asked-again-and-again",
        "robot/asking.py",
        "if (answer is not None and answer.known) or self.is_asked(row):",
        "if answer is not None and answer.known:",
        "the robot asks every second about the same thing",
    ),
    Mutant(
        "stranger-commands",
        "robot/admission.py",
        "if not self._commands:",
        "if False:",
        "whoever reaches the bus of a robot teaches it",
    ),
    Mutant(
        "command-replayed",
        "robot/admission.py",
        "if counter <= self._last:",
        "if counter < self._last:",
        "a signed command that someone recorded is done again",
    ),
    Mutant(
        "replay-after-restart",
        "robot/admission.py",
        "self._editor.journal.set(self._setting, self._last)",
        "pass",
        "a signed command is done again after a restart",
    ),
    Mutant(
        "lesson-outlives-edit",
        "robot/command_runner.py",
        "self._end_lesson()  # what comes after an edit",
        "pass  # what comes after an edit",
        "a class that is forgotten while it is taught comes back",
    ),
    Mutant(
        "video-turned-wrongly",
        "robot/video.py",
        "image.rotate(frame.rotation, expand=True)",
        "image.rotate(-frame.rotation, expand=True)",
        "videos of phones stand on their head",
    ),
    Mutant(
        "damaged-bag-taken-for-whole",
        "robot/bags.py",
        "        raise error\n",
        "        return\n",
        "of a recording that was cut short nobody is told",
    ),
    Mutant(
        "timeline-one-part-more",
        "robot/timeline.py",
        "inside.setdefault(min(number, n - 1), []).append(moment)",
        "inside.setdefault(number, []).append(moment)",
        "the last frame of a video is a part of its own",
    ),
)

_STUDIO = (
    Mutant(
        "token-not-asked",
        "studio/guard.py",
        "path != SESSION and not is_granted:",
        "path != SESSION and not self.access.cookie:",
        "anybody on the network may use the studio",
    ),
    Mutant(
        "origin-not-checked",
        "studio/guard.py",
        '        _check_origin(scope["scheme"], headers)\n',
        "        pass\n",
        "pages of other sites may teach",
    ),
    Mutant(
        "body-without-limit",
        "studio/bodies.py",
        "if self.taken > self.most:",
        "if self.taken < 0:",
        "a body without a length may fill all memory",
    ),
    Mutant(
        "bytes-put-a-deadline-off",
        "studio/connections.py",
        "        if phase is not self._phase:\n",
        "        if True:\n",
        "who sends a byte now and then keeps a connection for ever",
    ),
    Mutant(
        "owner-thrown-out",
        "studio/door.py",
        "if connection.is_trusted:",
        "if False:",
        "strangers who open connections end those of the owner",
    ),
    Mutant(
        "one-lesson-too-many",
        "studio/live.py",
        "if self.lessons >= limits.lessons:",
        "if self.lessons > limits.lessons:",
        "a connection may have one more lesson waiting than the limit says",
    ),
    Mutant(
        "replies-newest-first",
        "studio/live.py",
        "return self._unread.popleft()",
        "return self._unread.pop()",
        "replies of the WebSocket come in the wrong order",
    ),
    Mutant(
        "dropped-not-summed",
        "studio/live.py",
        "self.dropped += dropped",
        "self.dropped = dropped",
        "`dropped` is not counted since the connection began",
    ),
    Mutant(
        "folder-not-escaped",
        "studio/folder_names.py",
        "escape = foreign or (letters and letter.isalpha()) or _UNSAFE.match(label, index)",
        "escape = foreign or (letters and letter.isalpha())",
        "a class called a/b or ../x is exported into other folders",
    ),
    Mutant(
        "page-skips-an-example",
        "studio/routes/questions.py",
        "more = kept[limit - 1].id if len(kept) > limit else None",
        "more = kept[limit].id if len(kept) > limit else None",
        "one example at each end of a page is never shown",
    ),
    Mutant(
        "name-key-ignored",
        "studio/routes/inbox.py",
        "service.edit(service.editor.name, id, asked.label, key=asked.key)",
        "service.edit(service.editor.name, id, asked.label)",
        "an answer that is sent again after a lost reply is an error",
    ),
    Mutant(
        "for-good-ignored",
        "studio/routes/edits.py",
        "    if asked.for_good:",
        "    if False:",
        "what was to be forgotten for good is in the bin",
    ),
    Mutant(
        "snapshot-never-due",
        "studio/service.py",
        "        self._snapshots.tell()",
        "        pass",
        "the model's file is not written while the studio runs",
    ),
    Mutant(
        "histogram-not-cumulative",
        "studio/metrics.py",
        "below += number",
        "below = number",
        "latencies in Prometheus are nonsense",
    ),
    Mutant(
        "undo-nothing-is-422",
        "studio/errors.py",
        '"NothingToUndoError": 409,',
        '"NothingToUndoError": 422,',
        "programs cannot tell that there is nothing to undo",
    ),
    Mutant(
        "page-key-renewed",
        "studio/page/outbox.js",
        "post(path, { ...body, key })",
        "post(path, { ...body, key: newKey() })",
        "an edit that is sent again after a lost reply is made twice",
    ),
    Mutant(
        "page-takes-old-state",
        "studio/page/store.js",
        "state.position < this.server.position) return;",
        "state.position < 0) return;",
        "counts on the page step back",
    ),
    Mutant(
        "page-text-as-html",
        "studio/page/dom.js",
        'if (name === "text") element.textContent = value;',
        'if (name === "text") element.innerHTML = value;',
        "a class called <b>mug</b> becomes part of the page",
    ),
)

_CLI = (
    Mutant(
        "unreadable-is-done",
        "cli/commands/predict.py",
        "raise typer.Exit(exit_code(problems))",
        "raise typer.Exit(0)",
        "a script is not told that images could not be read",
    ),
    Mutant(
        "interrupted-is-done",
        "cli/commands/teach.py",
        "return INTERRUPTED",
        "return DONE",
        "a script goes on after Ctrl-C",
    ),
    Mutant(
        "internal-error-is-failure",
        "cli/program.py",
        "return INTERNAL_ERROR",
        "return FAILED",
        "a bug looks like a refusal",
    ),
    Mutant(
        "columns-swapped",
        "cli/answers.py",
        "cells += [answer.score, answer.unknown, answer.novelty]",
        "cells += [answer.score, answer.novelty, answer.unknown]",
        "in a .csv file, novelty stands under unknown",
    ),
    Mutant(
        "names-not-escaped",
        "cli/answers.py",
        'emit("\\t".join(map(printable, first + more)))',
        'emit("\\t".join(map(str, first + more)))',
        "a file with a tab or a line break in its name forges answers",
    ),
    Mutant(
        "unknown-above-ignored",
        "cli/commands/predict.py",
        "look_at(recogniser, examples, problems, top, unknown_above, block)",
        "look_at(recogniser, examples, problems, top, None, block)",
        "--unknown-above does nothing for images",
    ),
    Mutant(
        "joined-without-asking",
        "cli/commands/rename.py",
        "if joined and not force:",
        "if joined and force:",
        "two classes are joined unasked",
    ),
    Mutant(
        "for-good-dropped",
        "cli/commands/forget.py",
        "save(change, recogniser, console, for_good)",
        "save(change, recogniser, console)",
        "what was forgotten for good comes back with undo",
    ),
    Mutant(
        "open-to-the-world",
        "cli/service.py",
        "token = None if local else _token()",
        "token = None",
        "--host 0.0.0.0 needs no token",
    ),
    Mutant(
        "merge-overwrites",
        "cli/commands/merge.py",
        "check_replaced(output, force=force)",
        "check_replaced(output, force=True)",
        "merge overwrites another model unasked",
    ),
    Mutant(
        "output-overwrites-inputs",
        "cli/outputs.py",
        "if any(_is_same(path, each) for each in reads):",
        "if any(path == each for each in reads):",
        "an image is overwritten by another name",
    ),
    Mutant(
        "room-leaves-traces",
        "recognition/editor.py",
        "if journal.inbox.count <= open_before:",
        "if journal.inbox.count < open_before:",
        "a question that made room stays in the journal's files",
    ),
)

MUTANTS: tuple[Mutant, ...] = (
    *_CLI,
    *_STUDIO,
    *_ROBOT,
    *_PAPER,
    *_CHECKS,
    *_RIVER,
    *_RECOGNITION,
    *_ESTIMATORS,
    *_DISTRIBUTED,
    *_STORAGE,
    *_ENGINE,
    *_SELECTION,
    *_HEADS,
    *_SOLVERS,
    *_LAYERS,
    *_SUMS,
    *_DATASETS,
    *_FEATURES,
    *_COMMON,
)
