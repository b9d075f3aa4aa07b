"""Footage by its name: a video, a camera or a recording."""

import re
from contextlib import AbstractContextManager

from newfound.common.errors import InputError
from newfound.robot.bags import is_recording
from newfound.robot.crops import Crop
from newfound.robot.frames import Footage

# How names of videos end.
# fmt: off
VIDEOS = (
    ".3gp", ".avi", ".flv", ".m2ts", ".m4v", ".mjpeg", ".mjpg", ".mkv", ".mov",
    ".mp4", ".mpeg", ".mpg", ".mts", ".ogv", ".ts", ".webm", ".wmv", ".y4m",
)
# fmt: on
_CAMERA = re.compile(r"rtsps?://.*|camera:\d{1,3}|/dev/video\d{1,3}", re.IGNORECASE)

_USER = re.compile(r"//[^/]*@")


def is_footage(text: str) -> bool:
    """Tell by its name alone whether something is a video, a camera or a recording.

    >>> [is_footage(text) for text in ("clip.MP4", "camera:0", "run.mcap", "mug.jpg", "photos")]
    [True, True, True, False, False]
    """
    is_video = text.lower().endswith(VIDEOS) and "://" not in text
    return is_video or is_camera(text) or is_recording(text)


def is_camera(text: str) -> bool:
    """Tell by its name alone whether something is a camera or an RTSP address.

    >>> [is_camera(text) for text in ("camera:0", "rtsp://10.0.0.7/door", "camera.jpg")]
    [True, True, False]
    """
    return _CAMERA.fullmatch(text) is not None


def shown(text: str) -> str:
    """Return what to call it where others may read that: an address without a password.

    >>> shown("rtsp://anna:secret@10.0.0.7/door")
    'rtsp://10.0.0.7/door'
    """
    return _USER.sub("//", text) if is_camera(text) else text


def open_footage(
    text: str, *, crop: Crop | None = None, topic: str | None = None, labels: str | None = None
) -> AbstractContextManager[Footage]:
    """Return footage, to be entered, whatever kind it is of.

    Parameters
    ----------
    text : str
        A path or an address, of which `is_footage` is true.
    crop : Crop, optional
        Which part of each frame to take.
    topic : str, optional
        Of a recording, the topic that has the images.
    labels : str, optional
        A .csv file of start, end and label, or in a recording a topic of std_msgs/String: what
        the frames show.

    Returns
    -------
    context manager of Footage
        Who enters it gets an UnreadableImageError if nothing can be read, and another InputError
        if there is no such topic, or labels cannot be used.

    Raises
    ------
    InputError
        If a topic or labels are given for what can have none.
    ModuleNotFoundError
        If the extra that it takes is not installed.

    Examples
    --------
    >>> open_footage("camera:0", labels="labels.csv")
    Traceback (most recent call last):
    newfound.InputError: camera:0 is live: nobody can say beforehand what it shows when
    """
    if is_recording(text):
        from newfound.robot.recordings import Recording

        return Recording(text, topic, labels, crop)
    if topic is not None:
        raise InputError(f"{text} has no topics; recordings do")
    if is_camera(text):
        from newfound.robot.cameras import Camera

        if labels is not None:
            raise InputError(f"{text} is live: nobody can say beforehand what it shows when")
        return Camera(text, crop)
    from newfound.robot.video import Video

    return Video(text, crop, labels)
