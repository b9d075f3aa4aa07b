"""How much memory a child process of the tests took at most."""

# Python code for the child: defines `peak_mb()`. Not getrusage, where there is another way: a child
# inherits the peak of the process that forked it.
PEAK = """
import resource, sys
from pathlib import Path

def peak_mb():
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024
    except (OSError, StopIteration):
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
"""
