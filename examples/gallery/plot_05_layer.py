"""
A layer: classes that no plane separates
========================================

Ridge regression separates classes by planes. With random units beside the features it follows
curves, and all else stays as it is: rows come one at a time, in any order, and each can be taken
back. `IncrementalClassifier` keeps both models in one set of sums, and uses the units where
examples that it leaves out are clearly likelier with them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons

from newfound import IncrementalClassifier, IncrementalRidgeClassifier, Layer

X, y = make_moons(300, noise=0.15, random_state=0)
grid = np.stack(np.meshgrid(np.linspace(-1.7, 2.7, 200), np.linspace(-1.2, 1.7, 150)), axis=-1)
layer = Layer.of(X[:100], units=200)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.2), constrained_layout=True)
for axis, each in zip(axes, (None, layer.cut(10), layer), strict=True):
    model = IncrementalClassifier(each)
    for row, label in zip(X, y, strict=True):  # one at a time, as they come
        model.partial_fit(row[None], [label])
    axis.contourf(
        *np.moveaxis(grid, -1, 0),
        model.decision_function(grid.reshape(-1, 2)).reshape(150, 200),
        levels=[-10, 0, 10],
        colors=["tab:blue", "tab:orange"],
        alpha=0.3,
    )
    axis.scatter(*X.T, c=np.where(y, "tab:orange", "tab:blue"), s=8)
    title = "no units" if each is None else f"{each.units} units"
    axis.set(xticks=[], yticks=[], title=title)
plt.show()

# %%
# Nobody has to choose. Here digits come, and after each hundred the model says by how many standard
# errors those that it leaves out are likelier with 2,000 units; above two, it uses them. Until a
# hundred have come there are none: they are made to suit those.

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y, X_test, y_test = X[order[:1000]], y[order[:1000]], X[order[1000:]], y[order[1000:]]

models = {"linear": IncrementalClassifier(layer=None), "auto": IncrementalClassifier()}
seen, accuracies, advantages = [], {name: [] for name in models}, []
for lesson in np.split(np.arange(len(y)), [25, 50, 75, *range(100, len(y), 100)]):
    for name, model in models.items():
        model.partial_fit(X[lesson], y[lesson])
        accuracies[name].append(100 * model.score(X_test, y_test))
    seen.append(lesson[-1] + 1)
    advantages.append(models["auto"].layer_advantage_)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), constrained_layout=True)
for name, values in accuracies.items():
    left.plot(seen, values, "o-", markersize=4, label=name)
left.set(xlabel="examples", ylabel="accuracy, %", ylim=(50, 100))
left.legend()
right.plot(seen, advantages, "o-", markersize=4, color="0.3")
right.axhline(2, color="0.6", linestyle="--", label="from here on the units are used")
right.set(xlabel="examples", ylabel="advantage of the units, standard errors", ylim=(0, None))
right.legend()
plt.show()

# %%
# What was taught can be taken back, exactly, with units as without.

model = IncrementalRidgeClassifier(penalty=100, layer=2000).fit(X, y)
before = model.scores(X_test)
model.partial_fit(X_test[:5], y_test[:5]).forget(X_test[:5], y_test[:5])
print(f"the largest difference: {np.abs(model.scores(X_test) - before).max():.0e}")
