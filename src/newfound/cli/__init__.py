"""The command line: words and exit codes. stdout is data, stderr is talk."""

from newfound.cli.program import app as app
from newfound.cli.program import main as main
