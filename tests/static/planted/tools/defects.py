# SPDX-License-Identifier: MIT
"""For pyflakes: a name that nothing defines. For mypy: a number where a text is promised."""


def undefined() -> int:
    return never_defined


def untyped(count: int) -> str:
    return count
