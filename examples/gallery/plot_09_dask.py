"""
Rows that do not fit: Dask
==========================

A Dask array goes wherever rows go. Each partition becomes sums where it is, the sums are added in
a tree, and the model is that of one machine. Here a scheduler with two workers runs in this
process; on a cluster it is the same code with another address.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client

from newfound import IncrementalRidgeClassifier

client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
d, T, n = 64, 5, 200_000
centres = np.random.default_rng(0).normal(size=(T, d))


def partition(block_info=None):
    """Make the rows of one partition from its number: nobody holds them all."""
    number = block_info[None]["chunk-location"][0]
    rng = np.random.default_rng(number)
    of = rng.integers(T, size=n // 20)
    return np.column_stack([rng.normal(centres[of], 3.0), of])


data = da.map_blocks(partition, chunks=((n // 20,) * 20, (d + 1,)), dtype=float)
X, y = data[:, :d], data[:, d].astype(int)

# %%
# Learning moves no rows. What comes back are the sums, as large for a billion rows as for these.

model = IncrementalRidgeClassifier().fit(X, y)
print(
    f"{model.n_samples_seen_:,} rows of {data.nbytes / 2**20:.0f} MB; "
    f"the sums are {d} x {d} numbers, and {d} a class"
)
print(f"{model.score(X, y):.1%} right")

# %%
# It is the model of one machine, to rounding, however rows are cut:

here = IncrementalRidgeClassifier().fit(X.compute(), y.compute())
print("largest difference of the weights:", f"{np.abs(model.coef_ - here.coef_).max():.0e}")

# %%
# Answers are lazy, a partition at a time. Accuracy of each partition:

right = (model.predict(X) == y).map_blocks(lambda block: block.mean(keepdims=True), chunks=(1,))
shares = 100 * right.compute()
client.close()

fig, axis = plt.subplots(figsize=(8, 3), constrained_layout=True)
axis.bar(range(20), shares)
axis.set(xlabel="partition", ylabel="right, %", ylim=(shares.min() - 3, shares.max() + 2))
plt.show()
