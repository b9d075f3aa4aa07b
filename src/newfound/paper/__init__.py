"""The ICRA 2017 paper, reproduced: its protocol, tables and figures, and the demo of it."""
