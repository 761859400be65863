"""Generated ids. As texts they sort by age."""

from __future__ import annotations

# The largest number with four digits. Larger ones follow a letter for their length, `A` for five digits, which sorts after all digits.
SHORT = 9_999


def id_with_number(prefix: str, number: int) -> str:
    """`n_0001` to `n_9999`, then `n_A10000`."""
    if number <= SHORT:
        return f"{prefix}{number:04}"
    digits = str(number)
    return f"{prefix}{chr(ord('A') + len(digits) - 5)}{digits}"


def number_in_id(prefix: str, text: str) -> int | None:
    """The number in such an id; `None` if it is no id with this prefix."""
    digits = text.removeprefix(prefix).lstrip("ABCDEFGHIJKLMNOP")
    if not text.startswith(prefix) or not digits.isascii() or not digits.isdigit():
        return None
    number = int(digits)
    # One number has one id.
    return number if id_with_number(prefix, number) == text else None
