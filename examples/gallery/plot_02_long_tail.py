"""
A long tail of classes
======================

In the world few things are common and many are rare. Here each digit is taught half as often as
the one before it: from 128 zeros down to a single seven or eight or nine. How well is each found?
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
taught = np.concatenate(
    [rng.permutation(np.flatnonzero(y == digit))[:count] for digit, count in enumerate(counts)]
)
taught = rng.permutation(taught)
asked = np.setdiff1d(np.arange(len(y)), taught)

# %%
# The last of these is told neither penalty nor recoding. It finds, for each class by itself, how
# far one that was seen so rarely has to be raised, by asking how well known classes would fare
# had they been seen as rarely.

ways = {
    "naive": IncrementalRidgeClassifier(recoding=0),
    "recoded": IncrementalRidgeClassifier(recoding=0.7),
    "rebalanced": IncrementalRidgeClassifier(class_weight="balanced"),
    "chosen": IncrementalRidgeClassifierCV(),
}
recalls = {}
for name, model in ways.items():
    says = model.fit(X[taught], y[taught]).predict(X[asked])
    recalls[name] = 100 * recall_score(y[asked], says, average=None)
    print(f"{name:>10}: {100 * balanced_accuracy_score(y[asked], says):.1f} % mean over classes")

# %%

fig, axis = plt.subplots(figsize=(9, 3.8), constrained_layout=True)
for place, (name, values) in enumerate(recalls.items()):
    axis.bar(np.arange(10) + 0.2 * (place - 1.5), values, width=0.2, label=name)
axis.set_xticks(range(10), [f"{digit}\n{count}" for digit, count in enumerate(counts)])
axis.set(xlabel="digit, and how often it was taught", ylabel="found, %", ylim=(0, 119))
axis.legend(ncols=4, loc="upper center")
plt.show()

# %%
# How far each class was raised by the model that chooses:

chosen = ways["chosen"]
print("penalty", f"{chosen.penalty_:.3g}")
print("recoding", dict(zip(chosen.classes_.tolist(), chosen.recoding_.round(2).tolist())))
