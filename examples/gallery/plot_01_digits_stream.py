"""
A new digit arrives in a stream
===============================

Nine digits are known from 100 examples each; the tenth, 7, arrives one example at a time. After
each, the model is asked. Plain least squares does not name the new digit for a while. Recoding,
the default, does so after one look, and a step takes as long at the end as at the beginning.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from newfound import IncrementalRidgeClassifier

NEW = 7
X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(y))
X, y = X[order] / 16, y[order]

known = np.concatenate([np.flatnonzero(y == digit)[:100] for digit in range(10) if digit != NEW])
arriving = np.flatnonzero(y == NEW)[:100]
test = np.setdiff1d(np.arange(len(y)), [*known, *arriving])

# %%
# Three models are taught the same rows in the same order. They differ in one parameter.

models = {
    "naive": IncrementalRidgeClassifier(recoding=0),
    "recoded": IncrementalRidgeClassifier(recoding=0.7),
    "rebalanced": IncrementalRidgeClassifier(class_weight="balanced"),
}
new, old = test[y[test] == NEW], test[y[test] != NEW]
recall, others, milliseconds = ({name: [] for name in models} for _ in range(3))
for name, model in models.items():
    model.fit(X[known], y[known])
    for row in arriving:
        start = perf_counter()
        model.partial_fit(X[[row]], y[[row]]).predict(X[[row]])
        milliseconds[name].append(1000 * (perf_counter() - start))
        recall[name].append(100 * np.mean(model.predict(X[new]) == NEW))
        others[name].append(100 * np.mean(model.predict(X[old]) == y[old]))

# %%
# What the new digit gains, and what the others pay for it:

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), constrained_layout=True)
n_shown = np.arange(1, len(arriving) + 1)
for name in models:
    axes[0].plot(n_shown, recall[name], label=name)
    axes[1].plot(n_shown, others[name])
    axes[2].plot(n_shown, milliseconds[name], linewidth=0.8)
axes[0].set(title="new digit: recall, %", xscale="log", ylim=(0, 100))
axes[1].set(title="other digits: accuracy, %", xscale="log", ylim=(80, 100))
axes[2].set(title="learn one, predict one: ms", yscale="log")
for axis in axes:
    axis.set_xlabel("examples of the new digit")
axes[0].legend()
plt.show()

# %%
# In numbers, after one, ten and a hundred examples:

for name in models:
    print(f"{name:>10}:", *(f"{recall[name][n - 1]:5.1f} %" for n in (1, 10, 100)))
