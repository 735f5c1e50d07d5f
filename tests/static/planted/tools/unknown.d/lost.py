# SPDX-License-Identifier: MIT
"""For mypy: a file of no program, which nothing would type."""
