"""Reading and writing memory sizes. Binary units throughout, as PyTorch prints them."""

import re

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)


def parse_size(value: str) -> int:
    """Bytes of a size such as `24GiB`, `24 GB`, `512m` or `1.5G`: GB means GiB, as with PyTorch's own figures.

    A bare number means bytes. Raises ValueError for anything else.
    """
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ValueError(value)
    return int(float(match[1]) * _UNITS[match[2].lower()])


def format_size(size: int) -> str:
    """`size` bytes with the largest unit that leaves at least 1, two digits after the point where it is no whole number."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            number = size / factor
            return f"{number:.0f} {unit}" if number == int(number) else f"{number:.2f} {unit}"
    return f"{size} bytes"
