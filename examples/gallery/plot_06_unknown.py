"""
It knows what it does not know
==============================

Six digits are taught, four are strangers. `unknown_proba` says of each row how probable it is
that it is of no class that was taught. Nobody gives it examples of strangers: it asks its own
examples what they would have been, had their class never been taught.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score, roc_curve

from newfound import IncrementalRidgeClassifierCV

X, y = load_digits(return_X_y=True)
X = X / 16
rng = np.random.default_rng(0)
familiar = np.isin(y, [0, 1, 3, 4, 6, 8])
taught = rng.permutation(np.flatnonzero(familiar))[:500]
asked = np.setdiff1d(np.arange(len(y)), taught)
model = IncrementalRidgeClassifierCV().fit(X[taught], y[taught])
unknown = model.unknown_proba(X[asked])
stranger = ~familiar[asked]

# %%
# Above 0.5 a row is called unknown. The bound can be moved; the curve shows what that does.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
bins = np.linspace(0, 1, 41)
axes[0].hist(unknown[~stranger], bins, alpha=0.7, label="new rows of what was taught")
axes[0].hist(unknown[stranger], bins, alpha=0.7, label="strangers")
axes[0].axvline(0.5, color="0.3", linestyle=":")
axes[0].set(xlabel="probability of being unknown", ylabel="rows")
axes[0].legend()
false, true, _ = roc_curve(stranger, unknown)
axes[1].plot(100 * false, 100 * true)
axes[1].plot(100 * np.mean(unknown[~stranger] > 0.5), 100 * np.mean(unknown[stranger] > 0.5), "ko")
axes[1].set(xlabel="known rows called unknown, %", ylabel="strangers called unknown, %")
axes[1].set_title(f"AUC {roc_auc_score(stranger, unknown):.3f}")
plt.show()

# %%
# The strangers that it takes for friends, and whom for: these look like what it says.

fooled = asked[stranger][np.argsort(unknown[stranger])[:6]]
fig, axes = plt.subplots(1, 6, figsize=(10, 2), constrained_layout=True)
for axis, row, says in zip(axes, fooled, model.predict(X[fooled])):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set(xticks=[], yticks=[], title=f"{y[row]}, taken for {says}")
plt.show()
