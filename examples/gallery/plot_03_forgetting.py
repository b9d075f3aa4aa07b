"""
Forgetting on request
=====================

A person asks that her examples be removed. A model that is made of sums subtracts them: what
remains is the model that had never seen them, to rounding. Here examples are taken out one by
one, and after each the weights are compared with those of a model that is taught all the others
from scratch.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from newfound import IncrementalRidgeClassifier, NotTaughtError

X, y = load_digits(return_X_y=True)
X = X / 16
model = IncrementalRidgeClassifier().fit(X, y)

# %%
# Two hundred people, one digit each, ask one after the other.

rng = np.random.default_rng(0)
leaving = rng.permutation(len(y))[:200]
differences, left = [], np.arange(len(y))
for row in leaving:
    model.forget(X[[row]], y[[row]])
    left = left[left != row]
    never = IncrementalRidgeClassifier().fit(X[left], y[left])
    differences.append(np.abs(model.coef_ - never.coef_).max() / np.abs(never.coef_).max())

fig, axis = plt.subplots(figsize=(8, 3.4), constrained_layout=True)
axis.semilogy(np.arange(1, 201), differences)
axis.axhline(np.finfo(float).eps, color="0.6", linestyle=":")
axis.text(200, 1.2 * np.finfo(float).eps, "rounding of one number", ha="right", color="0.4")
axis.set(
    xlabel="examples forgotten, one by one",
    ylabel="largest difference of the weights",
    title="Forgetting, beside a model that never saw them",
    ylim=(1e-16, 1e-10),
)
plt.show()

# %%
# What was never taught cannot be forgotten, and the model says so instead of guessing:

try:
    model.forget(np.full((1, 64), 50.0), [3])
except NotTaughtError as error:
    print(error)

# %%
# A whole class goes as well, where sums are held per class. Then it is no class any more:

kinder = IncrementalRidgeClassifier(class_weight={}).fit(X, y)
print(kinder.classes_, "->", kinder.forget_class(8).classes_)
