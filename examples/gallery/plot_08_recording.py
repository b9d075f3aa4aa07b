"""
A robot's recording
===================

A robot drove past three things and recorded its camera: a bag of ROS 2, in MCAP. Somebody wrote
down when it saw what. The morning is taught, the evening is evaluated. No ROS is needed; rosbags
(extra ``robot``) reads the bag, and writes it here.
"""

import io
import shutil
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from photos import views
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from terminal import run

TYPE, BEGIN = "sensor_msgs/msg/CompressedImage", 1_700_000_000
folder, store = Path(tempfile.mkdtemp()), get_typestore(Stores.ROS2_JAZZY)


def record(name, pictures):
    """Write pictures as what a camera sent, two a second."""
    with Writer(folder / name, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection("/camera/image/compressed", TYPE, typestore=store)
        for number, picture in enumerate(pictures):
            at = BEGIN * 10**9 + number * 500_000_000
            stamp = store.types["builtin_interfaces/msg/Time"](*divmod(at, 10**9))
            header = store.types["std_msgs/msg/Header"](stamp=stamp, frame_id="camera")
            jpeg = io.BytesIO()
            picture.save(jpeg, "JPEG", quality=90)
            data = np.frombuffer(jpeg.getvalue(), dtype=np.uint8)
            message = store.types[TYPE](header=header, format="jpeg", data=data)
            writer.write(topic, at, store.serialize_cdr(message, TYPE))
    shutil.move(next((folder / name).glob("*.mcap")), folder / f"{name}.mcap")


things = ("mug", "cat", "scooter")
for name, seed in (("morning", 3), ("evening", 4)):
    record(name, [view for thing in things for view in views(thing, 16, seed)])
(folder / "labels.csv").write_text("start,end,label\n0,8,mug\n8,16,cat\n16,,scooter\n")

# %%
# Labels are spans of time. Frames that hardly differ from those taught are skipped, and counted:

run("newfound teach robot.newfound morning.mcap --labels labels.csv", folder)

# %%
# The evening is evaluated, with the labels that somebody wrote down:

run(
    "newfound evaluate robot.newfound evening.mcap --labels labels.csv --timeline timeline.png",
    folder,
)

fig, axis = plt.subplots(figsize=(9, 2.6), constrained_layout=True)
axis.imshow(plt.imread(folder / "timeline.png"))
axis.set_axis_off()
plt.show()

# %%
# What `newfound listen` does with a live camera is the same, message by message.
