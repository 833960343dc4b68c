"""Little-endian numbers, identifiers, clocks and checksums: what every other part reads with."""

from __future__ import annotations

from dataclasses import dataclass


class Unreadable(Exception):
    """Bytes that are not what Docs/Format.md says they should be."""


def _crc32c_table() -> list[int]:
    """The table of Castagnoli's polynomial (RFC 3720), reflected."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc32c_table()


def crc32c(data: bytes) -> int:
    """CRC-32C of all of `data`."""
    value = 0xFFFFFFFF
    table = _TABLE
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


@dataclass
class Cursor:
    """Reads a byte string from front to back; running over its end is an error."""

    data: bytes
    offset: int = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        end = self.offset + count
        if end > len(self.data):
            raise Unreadable(f"{count} bytes wanted at {self.offset} of {len(self.data)}")
        piece = self.data[self.offset:end]
        self.offset = end
        return piece

    def number(self, size: int) -> int:
        """An unsigned number of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def signed(self, size: int) -> int:
        """A signed number of `size` bytes, two's complement."""
        return int.from_bytes(self.take(size), "little", signed=True)

    def identifier(self) -> str:
        """Sixteen bytes as their text."""
        return identifier_text(self.take(16))

    def zeros(self, count: int) -> None:
        """Goes over `count` bytes that must be zero."""
        if any(self.take(count)):
            raise Unreadable(f"bytes before {self.offset} should be zero")

    def text(self, count: int) -> str:
        """The next `count` bytes as UTF-8."""
        try:
            return self.take(count).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable("a text is not UTF-8") from error

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self.data) - self.offset)


def identifier_text(data: bytes) -> str:
    """The text of an identifier: its bytes in order, in groups of 4, 2, 2, 2 and 6."""
    if len(data) != 16:
        raise Unreadable("an identifier has 16 bytes")
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def clock_milliseconds(clock: int) -> int:
    """The time of a hybrid clock: the upper 48 of its 64 bits."""
    return clock >> 16


def date_text(milliseconds: int) -> str:
    """RFC 3339 in UTC for milliseconds since 1970, with milliseconds where they are not zero."""
    seconds, fraction = divmod(milliseconds, 1000)
    days, second = divmod(seconds, 86_400)
    year, month, day = _civil(days)
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    tail = f".{fraction:03}" if fraction else ""
    years = f"{year:04}" if 0 <= year <= 9999 else f"{year:+07}"
    return f"{years}-{month:02}-{day:02}T{clock}{tail}Z"


def _civil(days: int) -> tuple[int, int, int]:
    """The Gregorian date of a day counted from 1970; `datetime` ends with the year 9999."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    return year, month, day
