"""
A client of the studio's service
================================

``newfound serve`` answers over HTTP what the studio's page shows: a robot, or a program in any
language, can teach and ask it. Here the service runs beside this script on a port of this
machine, and ends with it.
"""

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen

import matplotlib.pyplot as plt
from photos import views

folder = Path(tempfile.mkdtemp())
service = subprocess.Popen(
    [sys.executable, "-m", "newfound", "serve", "kitchen.newfound", "--port", "0"],
    cwd=folder,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
)
address = service.stdout.readline().strip().rstrip("/")  # which it prints once it listens


def post(path, picture):
    """Send a picture, and return what the service answers."""
    jpeg = io.BytesIO()
    picture.save(jpeg, "JPEG", quality=90)
    request = Request(f"{address}/api/{path}", jpeg.getvalue())
    request.add_header("Content-Type", "image/jpeg")
    return json.load(urlopen(request))


# %%
# A lesson is one request. It is learned, and on the disk, when the answer comes.

for thing in ("mug", "cat", "coins"):
    for picture in views(thing, 6):
        done = post(f"lessons?label={thing}", picture)
    print(done["what"])

# %%
# So is a question. The last thing was never taught.

asked = {thing: views(thing, 1, seed=5)[0] for thing in ("mug", "cat", "coins", "rocket")}
answers = {thing: post("look", picture) for thing, picture in asked.items()}

fig, axes = plt.subplots(1, 4, figsize=(10, 2.6), constrained_layout=True)
for axis, (thing, answer) in zip(axes, answers.items()):
    axis.imshow(asked[thing])
    words = answer["label"] if answer["known"] else f"unknown ({answer['label']}?)"
    axis.set(xticks=[], yticks=[], title=f"{words}  {answer['score']:.2f}")
plt.show()

# %%
# What is there to know about the model, for a program:

state = json.load(urlopen(f"{address}/api/state"))
print(sorted(state))

service.terminate()
service.wait()
