"""A terminal for the examples: run a command of newfound in a folder, and print what it prints."""

import shlex
import subprocess
import sys


def run(line, folder):
    """Run a line, and print it with what it says."""
    print(f"$ {line}")
    program, *words = shlex.split(line)
    assert program == "newfound"
    done = subprocess.run(
        [sys.executable, "-m", "newfound", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    print(done.stdout)
