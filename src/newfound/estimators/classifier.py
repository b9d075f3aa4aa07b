"""The estimator with fixed parameters."""

from newfound.estimators.classification import BaseIncrementalClassifier
from newfound.layers.layer import Layer
from newfound.solvers.settings import ClassWeight, Settings


class IncrementalRidgeClassifier(BaseIncrementalClassifier):
    """Ridge classifier that learns row by row, meets new classes, forgets and merges, exactly.

    At every moment its weights are those of ridge regression on one-hot targets over everything
    taught and not forgotten, with the column of each class scaled up the rarer it is (recoding).
    Learning a row takes O(d^2 + dT) time, and memory does not grow with what was seen.

    Rows may be dense or sparse, as any matrix or array of scipy.sparse: sparse ones are made dense
    a block of 64 MB at a time. Of sparse features there may be 10,000; with a layer, wider rows
    are projected to 2,048 first (docs/pipelines.md), and weights are of what they become.

    Any number of threads may ask while others teach: an answer is that of before or of after a
    call that learns, and such calls wait for each other. Hold `lock` to make several calls one.

    Parameters
    ----------
    penalty : float, default=1.0
        Ridge penalty, above 0; the intercept is not penalised. May be changed at any time.
    recoding : float, default=0.7
        How far rare classes are raised, from 0 (not at all) to 1: scores of class t are
        multiplied by (m / (T m_t)) ** recoding, with m_t what the examples of the class weigh,
        times the weight of the class, and m their sum. Classes of equal weight are left exactly as
        they are. May be changed at any time.
    class_weight : None, "balanced" or mapping of label to float, default=None
        Weight of each class in the loss, beside the weights of its examples. "balanced" is
        n / (T n_t), with n_t what the examples of the class weigh, so that classes weigh the same.
        Classes that a mapping does not name weigh 1. Anything but None holds the Gram matrix of
        each class: d * d numbers a class (the examples as they are while there are at most d / 2).
        With anything but None and an empty mapping, the first prediction after something was
        learned takes O(d^3 / 3) time. May be changed at any time, but not from None.
    fit_intercept : bool, default=True
        Whether to fit an intercept, exactly and without penalty. May be changed at any time.
    layer : int, Layer or None, default=None
        Random units beside the features, so that more than planes can be told: so many, made to
        suit the first hundred rows (until then the model is linear), or a layer that is given
        (docs/layer.md). It cannot change once rows are learned.

    Attributes
    ----------
    classes_ : ndarray of shape (T,)
        Labels, sorted, as scikit-learn's scorers expect. A class that arrives moves the columns
        of those behind it, here and in all that is listed by class.
    class_count_ : ndarray of shape (T,)
        Number of examples of each class.
    class_weight_sum_ : ndarray of shape (T,)
        Sum of the weights of each class's examples: their number, if none was given a weight.
    coef_ : ndarray of shape (T, d), or (1, d) if T is 2
        Weights, recoded; float32 if all rows taught were.
    intercept_ : ndarray of shape (T,), or (1,) if T is 2
        Intercepts, recoded.
    n_features_in_ : int
        Number of features, d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if the first rows taught had any.
    n_samples_seen_ : int
        Number of examples taught and not forgotten, n.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> model = IncrementalRidgeClassifier()
    >>> model.partial_fit([[0.0, 0.1], [1.0, 0.9]], ["cup", "mug"]).predict([[0.9, 1.0]])
    array(['mug'], dtype='<U3')
    >>> model.partial_fit([[0.0, 1.0]], ["ball"]).predict([[0.1, 1.0]])
    array(['ball'], dtype='<U4')
    >>> model.forget([[0.0, 1.0]], ["ball"]).classes_
    array(['cup', 'mug'], dtype='<U4')
    """

    _SETTINGS = Settings

    def __init__(
        self,
        penalty: float = 1.0,
        recoding: float = 0.7,
        class_weight: ClassWeight | None = None,
        fit_intercept: bool = True,
        layer: int | Layer | None = None,
    ) -> None:
        self.penalty = penalty
        self.recoding = recoding
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.layer = layer
