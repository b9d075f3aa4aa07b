"""
It knows what it does not know
==============================

Six digits are taught, four are unknown. `unknown_proba` is, for each row, the probability that it
belongs to no class that was taught. The model needs no examples of unknown things: it scores its
own examples as if their class had never been taught.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score, roc_curve

from newfound import IncrementalRidgeClassifierCV

X, y = load_digits(return_X_y=True)
X = X / 16
rng = np.random.default_rng(0)
is_known = np.isin(y, [0, 1, 3, 4, 6, 8])
train = rng.permutation(np.flatnonzero(is_known))[:500]
test = np.setdiff1d(np.arange(len(y)), train)
model = IncrementalRidgeClassifierCV().fit(X[train], y[train])
unknown = model.unknown_proba(X[test])
of_known, of_unknown = unknown[is_known[test]], unknown[~is_known[test]]

# %%
# Above 0.5 a row is called unknown. The bound can be moved; the curve shows what that does.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
bins = np.linspace(0, 1, 41)
axes[0].hist(of_known, bins, alpha=0.7, label="new rows of what was taught")
axes[0].hist(of_unknown, bins, alpha=0.7, label="unknown digits")
axes[0].axvline(0.5, color="0.3", linestyle=":")
axes[0].set(xlabel="probability of being unknown", ylabel="rows")
axes[0].legend()
false, true, _ = roc_curve(~is_known[test], unknown)
axes[1].plot(100 * false, 100 * true)
axes[1].plot(100 * np.mean(of_known > 0.5), 100 * np.mean(of_unknown > 0.5), "ko")
axes[1].set(xlabel="known rows called unknown, %", ylabel="unknown rows called unknown, %")
axes[1].set_title(f"AUC {roc_auc_score(~is_known[test], unknown):.3f}")
plt.show()

# %%
# The unknown digits that are least likely to be called unknown, and what they are taken for.

fooled = test[~is_known[test]][np.argsort(of_unknown)[:6]]
fig, axes = plt.subplots(1, 6, figsize=(10, 2), constrained_layout=True)
for axis, row, predicted in zip(axes, fooled, model.predict(X[fooled])):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set(xticks=[], yticks=[], title=f"{y[row]}, taken for {predicted}")
plt.show()
