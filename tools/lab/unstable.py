# SPDX-License-Identifier: MIT
"""The toolchain of Debian's unstable suite."""
