"""
Random features: classes that no line separates
===============================================

newfound is linear in its features. With random Fourier features, by scikit-learn's RBFSampler, it
follows curves. It stays exact and incremental: the map is fixed before the first row comes, so each
row is mapped alone and then learned.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import train_test_split

from newfound import IncrementalRidgeClassifier

X, y = make_moons(400, noise=0.15, random_state=0)
grid = np.stack(np.meshgrid(np.linspace(-1.7, 2.7, 200), np.linspace(-1.2, 1.7, 150)), axis=-1)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.2), constrained_layout=True)
for axis, n_features in zip(axes, (None, 10, 200)):
    model = IncrementalRidgeClassifier(penalty=0.1)
    if n_features is None:
        X_train, X_test = X, grid.reshape(-1, 2)
    else:
        rff = RBFSampler(gamma=2.0, n_components=n_features, random_state=0).fit(X)
        X_train, X_test = rff.transform(X), rff.transform(grid.reshape(-1, 2))
    for row, label in zip(X_train, y):  # one at a time, as they come
        model.partial_fit(row[None], [label])
    scores = model.scores(X_test)
    axis.contourf(
        *np.moveaxis(grid, -1, 0),
        (scores[:, 1] - scores[:, 0]).reshape(150, 200),
        levels=[-10, 0, 10],
        colors=["tab:blue", "tab:orange"],
        alpha=0.3,
    )
    axis.scatter(*X.T, c=np.where(y, "tab:orange", "tab:blue"), s=8)
    axis.set(
        xticks=[],
        yticks=[],
        title="as it is" if n_features is None else f"{n_features} random features",
    )
plt.show()

# %%
# The digits gain, too. More features cost more: a step takes O(d²).

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
plain = IncrementalRidgeClassifier().fit(X_train, y_train).score(X_test, y_test)
sizes, accuracies = (25, 50, 100, 200, 400, 800), []
for n_features in sizes:
    rff = RBFSampler(gamma=0.05, n_components=n_features, random_state=0).fit(X_train)
    model = IncrementalRidgeClassifier(penalty=0.05).fit(rff.transform(X_train), y_train)
    accuracies.append(100 * model.score(rff.transform(X_test), y_test))

fig, axis = plt.subplots(figsize=(7, 3.2), constrained_layout=True)
axis.semilogx(sizes, accuracies, "o-", label="random features")
axis.axhline(100 * plain, color="0.4", linestyle="--", label="the 64 pixels")
axis.set(xlabel="random features", ylabel="accuracy, %")
axis.set_xticks(sizes, sizes, minor=False)
axis.legend()
plt.show()
