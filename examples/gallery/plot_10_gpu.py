"""
On a GPU: torch tensors
=======================

Rows that are tensors are learned where they are, and answers come back there. This example uses
the GPU where there is one. Where this page was built there may be none: the line that it prints
says which device it was. scikit-learn wants ``SCIPY_ARRAY_API=1`` in the environment before it is
imported.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

from time import perf_counter

import matplotlib.pyplot as plt
import sklearn
import torch

from newfound import IncrementalRidgeClassifier

device = "cuda" if torch.cuda.is_available() else "cpu"
print("device:", torch.cuda.get_device_name() if device == "cuda" else "the processor, by torch")

# %%
# A batch, then rows one at a time. The same lines run on both devices.


def step_times(d, T=10, steps=30):
    """Return the milliseconds of steps on tensors with d features, on the device and by numpy."""
    torch.manual_seed(0)
    X = torch.randn(2 * d, d, dtype=torch.float64, device=device)
    y = torch.arange(len(X), device=device) % T
    taken = []
    for rows, labels in ((X, y), (X.cpu().numpy(), y.cpu().numpy())):
        model = IncrementalRidgeClassifier().fit(rows, labels)
        model.predict(rows[:1])
        began = perf_counter()
        for row in range(steps):
            model.partial_fit(rows[row : row + 1], labels[row : row + 1]).predict(rows[:1])
        taken.append(1000 * (perf_counter() - began) / steps)
    return taken


sizes = (64, 128, 256, 512, 1024)
with sklearn.config_context(array_api_dispatch=True):
    times = [step_times(d) for d in sizes]

fig, axis = plt.subplots(figsize=(7, 3.6), constrained_layout=True)
for place, name in enumerate((f"torch tensors ({device})", "numpy arrays")):
    axis.loglog(sizes, [both[place] for both in times], "o-", label=name)
axis.set(xlabel="features", ylabel="learn one, predict one: ms")
axis.set_xticks(sizes, sizes)
axis.legend()
plt.show()

# %%
# Answers are tensors of the device, and the file is the same wherever it was saved:

with sklearn.config_context(array_api_dispatch=True):
    X = torch.tensor([[0.0, 0.1], [1.0, 0.9], [0.1, 1.0]], dtype=torch.float64, device=device)
    model = IncrementalRidgeClassifier().fit(X, [3, 7, 5])
    answer = model.predict(X)
print(answer.tolist(), answer.device.type)
print(model.move_to(None).coef_.round(2))
