"""
A video, and answers over a track
=================================

A camera looks at a mug, then at a cat, then at something it was never taught. Each frame has an
answer of its own; `Evidence` combines them, so that one blurred frame does not change the answer.
The video is made here, by PyAV (extra ``video``), from photos that come with scikit-image.
"""

import tempfile
from pathlib import Path

import av
import matplotlib.pyplot as plt
import numpy as np
from photos import views
from PIL import ImageFilter
from terminal import run

from newfound import Recogniser
from newfound.recognition.evidence import Evidence
from newfound.robot.footage import open_footage

RATE = 10
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)


def film(path, things, frames):
    """Write a video of things, one after the other; every sixth frame or so is blurred."""
    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for thing in things:
            for picture in views(thing, frames, seed=2):
                if rng.random() < 0.17:
                    picture = picture.filter(ImageFilter.GaussianBlur(5))
                container.mux(stream.encode(av.VideoFrame.from_image(picture)))
        container.mux(stream.encode())


for thing in ("mug", "cat", "coins"):
    film(folder / f"{thing}.mp4", [thing], 20)
film(folder / "asked.mp4", ["mug", "cat", "person"], 20)

# %%
# A clip holds frames that are nearly the same, and blurred ones. Teaching takes those that show
# something new:

for thing in ("mug", "cat", "coins"):
    run(f"newfound teach kitchen.newfound {thing}.mp4 --as {thing}", folder)

# %%
# Asking, frame by frame and over the track. The vectors tell the track when another thing comes:

kitchen, track = Recogniser(folder / "kitchen.newfound"), Evidence(half_life=0.5)
times, alone, together, pictures = [], [], [], []
with open_footage(str(folder / "asked.mp4")) as footage:
    for frame in footage.frames():
        vectors = kitchen.extractor([frame.image])
        (answer,) = kitchen.look_at_vectors(vectors, top=3)
        added = track.add(answer, frame.time, kitchen.unknown_above, vectors[0])
        times.append(frame.time)
        alone.append(answer)
        together.append(added)
        pictures.append(frame.image)

fig = plt.figure(figsize=(10, 4.6), constrained_layout=True)
grid = fig.add_gridspec(2, 6, height_ratios=[1, 2])
for place, number in enumerate(range(5, 60, 10)):
    axis = fig.add_subplot(grid[0, place])
    axis.imshow(pictures[number])
    axis.set(xticks=[], yticks=[], title=f"{times[number]:.1f} s")
axis = fig.add_subplot(grid[1, :])
for label, colour in {"mug": "tab:blue", "cat": "tab:green", "coins": "tab:olive"}.items():
    for answers, style in ((alone, {"alpha": 0.25}), (together, {"label": label})):
        chance = [dict(one.top).get(label, 0) * (1 - one.unknown) for one in answers]
        axis.plot(times, chance, color=colour, **style)
for answers, style in ((alone, {"alpha": 0.25}), (together, {"label": "unknown"})):
    axis.plot(times, [one.unknown for one in answers], color="tab:red", **style)
axis.set(xlabel="seconds", ylabel="probability; faint: of the frame alone")
axis.legend(ncols=4, loc="upper center")
plt.show()

# %%
# The command line prints one answer per segment:

run("newfound predict kitchen.newfound asked.mp4 --smooth", folder)
