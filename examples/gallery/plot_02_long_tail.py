"""
A long tail of classes
======================

In the world few things are common and many are rare. Here each digit is taught half as often as
the one before it: from 128 zeros down to a single seven or eight or nine. What is the recall of
each?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score, recall_score

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV

X, y = load_digits(return_X_y=True)
X = X / 16
rng = np.random.default_rng(0)
counts = np.maximum(1, 128 // 2 ** np.arange(10))
train = np.concatenate(
    [rng.permutation(np.flatnonzero(y == digit))[:count] for digit, count in enumerate(counts)]
)
train = rng.permutation(train)
test = np.setdiff1d(np.arange(len(y)), train)
X_train, X_test, y_train, y_test = X[train], X[test], y[train], y[test]

# %%
# The last of these is told neither penalty nor recoding. It chooses, for each class, how far to
# raise its scores: by leave-one-out scores of well-known classes, as if they had been seen as
# rarely.

models = {
    "naive": IncrementalRidgeClassifier(recoding=0),
    "recoded": IncrementalRidgeClassifier(recoding=0.7),
    "rebalanced": IncrementalRidgeClassifier(class_weight="balanced"),
    "chosen": IncrementalRidgeClassifierCV(),
}
recalls = {}
for name, model in models.items():
    predicted = model.fit(X_train, y_train).predict(X_test)
    recalls[name] = 100 * recall_score(y_test, predicted, average=None)
    print(f"{name:>10}: {100 * balanced_accuracy_score(y_test, predicted):.1f} % mean over classes")

# %%

fig, axis = plt.subplots(figsize=(9, 3.8), constrained_layout=True)
for place, (name, values) in enumerate(recalls.items()):
    axis.bar(np.arange(10) + 0.2 * (place - 1.5), values, width=0.2, label=name)
axis.set_xticks(range(10), [f"{digit}\n{count}" for digit, count in enumerate(counts)])
axis.set(xlabel="digit, and how often it was taught", ylabel="recall, %", ylim=(0, 119))
axis.legend(ncols=4, loc="upper center")
plt.show()

# %%
# How far each class was raised by the model that chooses:

chosen = models["chosen"]
print("penalty", f"{chosen.penalty_:.3g}")
print("recoding", dict(zip(chosen.classes_.tolist(), chosen.recoding_.round(2).tolist())))
