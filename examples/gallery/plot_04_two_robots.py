"""
Two robots share what they know
===============================

One robot has learned in the kitchen, another in the garage. Merging adds their sums: the result
is the model that had seen both. No photo travels. `Recogniser` looks at images with EfficientNet-
Lite0, whose weights are installed with the extra ``vision``.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from photos import views

from newfound import Recogniser

kitchen = Recogniser()
for thing in ("mug", "cat", "coins"):
    kitchen.teach(views(thing, 8), thing)
garage = Recogniser()
for thing in ("scooter", "rocket"):
    garage.teach(views(thing, 8), thing)

# %%
# Each is asked about views that it has never seen, of all five things. What it was not taught it
# calls unknown.

things = ("mug", "cat", "coins", "scooter", "rocket")
asked = {thing: views(thing, 6, seed=1) for thing in things}


def answers(robot):
    """Return the answers of a robot to all views."""
    robot.refresh()
    return {
        thing: [one.label if one.known else "unknown" for one in robot.look(pictures)]
        for thing, pictures in asked.items()
    }


house = Recogniser()
house.merge(kitchen)
house.merge(garage)
table = {
    name: answers(robot)
    for name, robot in {"kitchen": kitchen, "garage": garage, "both": house}.items()
}

fig, axes = plt.subplots(3, 5, figsize=(10, 5.2), constrained_layout=True)
for (name, labels), row in zip(table.items(), axes):
    for thing, axis in zip(things, row):
        ((label, count),) = Counter(labels[thing]).most_common(1)
        axis.imshow(asked[thing][0])
        axis.set_title(f"{label}  {count}/6", color="tab:green" if label == thing else "tab:red")
        axis.set(xticks=[], yticks=[])
    row[0].set_ylabel(name, fontsize="large")
plt.show()

# %%
# The house knows what both were taught, and how often:

print(house.counts)
right = np.mean([one == thing for thing, labels in table["both"].items() for one in labels])
print(f"accuracy {right:.0%}")
