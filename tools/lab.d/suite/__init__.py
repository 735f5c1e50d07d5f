# SPDX-License-Identifier: MIT
"""What tools/test runs, and how it tells what came out."""
