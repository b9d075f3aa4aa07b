"""The estimator to reach for: it chooses penalty, recoding, and whether a layer pays."""

from typing import Literal

from numpy.typing import ArrayLike

from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV
from newfound.estimators.seeds import Seed
from newfound.layers.layer import Layer
from newfound.learner.learner import CHOOSING
from newfound.solvers.settings import ClassWeight


class IncrementalClassifier(IncrementalRidgeClassifierCV):
    """Incremental classifier that chooses while it learns what it needs, also not to be linear.

    It is `IncrementalRidgeClassifierCV` with 2,000 random units beside the features, which it uses
    where they pay: where its witnesses, each left out, are clearly likelier behind them. The model
    without units is a part of the one with them, so this can be decided at any time, and taken
    back. All else holds as without: order does not matter, forgetting and merging are exact, time
    and memory do not grow with what was seen (docs/layer.md).

    Units take memory, about 150 MB, and time: a step takes that of 2,000 features more. Where
    features come from a network, as those of photos do, they rarely pay; `layer=None` is without.

    Rows of more than 10,000 features, sparse or dense, are projected to 2,048 first, as the seed
    says (docs/pipelines.md). With `layer=None` they are not, and sparse ones are refused.

    Parameters
    ----------
    layer : "auto", int, Layer or None, default="auto"
        "auto" has 2,000 units and decides; a number has so many and uses them; both are made to
        suit the first hundred rows, and until then the model is linear. Models that are to be
        merged need the same: `Layer.of(rows)`, given to all of them. None: linear.
    penalties : "auto" or sequence of float, default="auto"
        Ridge penalties to choose from.
    recodings : float or sequence of float, default=(0, 0.1, …, 1)
        How far to raise rare classes, to choose from.
    rule : "what-if", "paper" or None, default="what-if"
        What is asked of the witnesses.
    witnesses : int, default=40
        Exemplars that are kept of each class; of all together 1,000 at least, unless `layer` is
        None.
    min_class_count : int, default=30
        Examples from which on a class is frequent.
    tolerance : float, default=0.0
        How much accuracy may suffer from recoding under rule "paper".
    class_weight : None, "balanced" or mapping of label to float, default=None
        As in `IncrementalRidgeClassifier`.
    fit_intercept : bool, default=True
    random_state : int, RandomState, Generator or None, default=0
        Seed of the projection, of the units, of which examples become witnesses, and of the
        what-ifs.

    Attributes
    ----------
    projection_ : Projection or None
        What rows of more than 10,000 features go through first.
    layer_ : Layer or None
        That answers are made with for now.
    layer_advantage_ : float
        By how many standard errors witnesses are likelier behind the layer; NaN, until it is asked.
    penalty_, recoding_, validation_scores_
        As those of `IncrementalRidgeClassifierCV`.
    classes_, class_count_, coef_, intercept_, n_features_in_, feature_names_in_, n_samples_seen_
        As those of `IncrementalRidgeClassifier`. Weights are those of `layer_(X)`, if there is one,
        and `X` is what `projection_` makes of rows, if there is one.

    Examples
    --------
    Two rings, which no plane can tell apart:

    >>> import numpy as np
    >>> from newfound import IncrementalClassifier
    >>> angle, ring = np.linspace(0, 60, 300), np.arange(300) % 2
    >>> X = (1 + ring)[:, None] * np.column_stack([np.sin(angle), np.cos(angle)])
    >>> IncrementalClassifier(layer=None).fit(X, ring).score(X, ring) < 0.6
    True
    >>> IncrementalClassifier().fit(X, ring).score(X, ring)
    1.0
    """

    def __init__(
        self,
        layer: Literal["auto"] | int | Layer | None = "auto",
        penalties: Literal["auto"] | ArrayLike = CHOOSING.penalties,
        recodings: float | ArrayLike = CHOOSING.recodings,
        rule: Literal["what-if", "paper"] | None = CHOOSING.rule,
        witnesses: int = CHOOSING.witnesses,
        min_class_count: int = CHOOSING.min_class_count,
        tolerance: float = CHOOSING.tolerance,
        class_weight: ClassWeight | None = CHOOSING.class_weight,
        fit_intercept: bool = CHOOSING.fit_intercept,
        random_state: Seed = CHOOSING.random_state,
    ) -> None:
        super().__init__(
            penalties,
            recodings,
            rule,
            witnesses,
            min_class_count,
            tolerance,
            class_weight,
            fit_intercept,
            random_state,
            layer,
        )
