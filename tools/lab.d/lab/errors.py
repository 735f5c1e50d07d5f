# SPDX-License-Identifier: MIT
"""What the lab says when it cannot go on: always one line, always with a remedy."""


class LabError(Exception):
    """Something outside the user's input failed (download, build, QEMU). Exit code 1."""

    exit_code = 1


class UsageError(LabError):
    """The input is wrong; the message names the thing, the place and the remedy. Exit code 2."""

    exit_code = 2
