"""How much memory a child process of the tests took at most."""

import subprocess
import sys
from pathlib import Path

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

# Runs Python code with the path of a file; prints what went wrong, and the peak of its memory.
MEASURED = (
    PEAK
    + """
import newfound, newfound.datasets.vectors_file as vectors_file
try:
    {call}(sys.argv[1])
except (ValueError, OSError) as error:
    print(error)
print(peak_mb())
"""
)


def said_and_peak(call: str, path: Path) -> tuple[str, int]:
    """Return what is said of a file, and how many MB it took to come to that."""
    command = [sys.executable, "-c", MEASURED.format(call=call), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    said, peak = run.stdout.splitlines()
    return said, int(peak)
