"""The tests themselves: Ctrl-C comes through under nohup, too, where it is ignored at first."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")
PRESS = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"


def test_ctrl_c_comes_through_here_and_in_children() -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    child = subprocess.run([sys.executable, "-c", PRESS], capture_output=True, text=True)
    assert "KeyboardInterrupt" in child.stderr


@pytest.mark.slow
def test_ctrl_c_comes_through_where_it_was_ignored() -> None:
    test = f"{__file__}::{test_ctrl_c_comes_through_here_and_in_children.__name__}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
