# SPDX-License-Identifier: MIT
"""What runs inside a guest for the demo and the benchmark; a package, so that the demo's own inside.py does not hide it."""
