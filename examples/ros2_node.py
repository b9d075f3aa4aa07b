"""A node of ROS 2 that answers what a camera sees, and learns when it is told to.

    python3 ros2_node.py --ros-args -r image:=/camera/compressed -p model:=kitchen.newfound
    python3 ros2_node.py --ros-args -r image:=/camera/compressed -p commands:=true
    ros2 topic pub --once /newfound/command std_msgs/msg/String "data: teach mug"

Without the parameter commands, or secret_file, it answers, and refuses commands. It was never run
in ROS 2, which is not there where newfound is tested. `newfound listen` does the same with the same
functions, and needs no ROS.
"""

import json
from contextlib import ExitStack, closing
from functools import partial

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String

from newfound.recognition.editor import Editor
from newfound.recognition.locking import locked
from newfound.robot.answers import results_of
from newfound.robot.listening import Listener
from newfound.robot.messages import ImageMessage
from newfound.robot.signing import read_secret

try:
    from vision_msgs.msg import Classification, ObjectHypothesis
except ImportError:  # answers are in JSON, too
    Classification = None


class NewfoundNode(Node):
    """Topics of ROS 2, as a `Publisher` and as where a `Listener` gets its frames."""

    def __init__(self):
        super().__init__("newfound")
        model = self.declare_parameter("model", "kitchen.newfound").value
        commands = self.declare_parameter("commands", False).value  # of whoever sends them
        secret_file = self.declare_parameter("secret_file", "").value  # or of who signs them
        write, names = self.create_publisher, ("answer", "reply", "question")
        self.texts = {name: write(String, f"newfound/{name}", 10) for name in names}
        if Classification is not None:
            self.classes = write(Classification, "newfound/classification", 10)
        self.reply, self.question = partial(self.tell, "reply"), partial(self.tell, "question")
        self.held = ExitStack()
        self.held.enter_context(locked(model))  # nobody else may change it meanwhile
        editor = self.held.enter_context(closing(Editor(model)))
        secret = read_secret(secret_file) if secret_file else None
        listener = Listener(editor, self, source="image", commands=commands, secret=secret)
        self.listener = self.held.enter_context(closing(listener))
        self.create_subscription(CompressedImage, "image", self.on_image, qos_profile_sensor_data)
        self.create_subscription(String, "newfound/command", self.on_command, 10)

    def on_image(self, message):
        """Take a frame; it is looked at if none comes before its turn."""
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        image = ImageMessage(stamp, message.header.frame_id, message.format, bytes(message.data))
        self.listener.put(lambda: image)

    def on_command(self, message):
        """Take a command."""
        self.listener.command(message.data)

    def answer(self, answer, image):
        """Say what an image shows."""
        self.tell("answer", answer)
        if Classification is not None:
            message = Classification()
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(image.stamp, 10**9)
            message.header.frame_id = image.frame_id
            for label, score in results_of(answer):
                message.results.append(ObjectHypothesis(class_id=label, score=score))
            self.classes.publish(message)

    def tell(self, name, values):
        """Publish values as JSON."""
        self.texts[name].publish(String(data=json.dumps(values)))


if __name__ == "__main__":
    rclpy.init()
    node = NewfoundNode()
    with node.held:
        rclpy.spin(node)
