"""Values: canonical CBOR in, the JSON of `daybook dump --json` out."""

from __future__ import annotations

import base64
import datetime
import decimal
import io
import math
import re
from dataclasses import dataclass
from typing import Any, Union

import cbor2

from .layout import Unreadable, date_text

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
LARGEST_EXACT = 2**53
LARGEST_INTEGER = 2**64
WRITTEN_ZEROS = 20
MOST_DIGITS = 200
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Row:
    """A value of a record: its JSON follows the rules for values, not those for facts."""

    value: Any


Fact = Union[None, bool, int, str, list, dict, Row]


def decode(data: bytes) -> Any:
    """The one CBOR item that fills `data`, in its one canonical form."""
    stream = io.BytesIO(data)
    try:
        with decimal.localcontext() as context:
            context.prec = MOST_DIGITS
            value = cbor2.CBORDecoder(stream).decode()
            again = cbor2.dumps(value, canonical=True, datetime_as_timestamp=True)
    except Exception as error:  # cbor2 raises its own, ValueError, OverflowError and others
        raise Unreadable(f"no CBOR: {error}") from error
    if stream.read(1):
        raise Unreadable("bytes behind the CBOR item")
    if again != data:
        raise Unreadable("CBOR that is not canonical")
    return value


def json_text(fact: Fact) -> str:
    """JSON without spaces, keys in the order of the dictionary."""
    if isinstance(fact, Row):
        return _value_text(fact.value)
    if isinstance(fact, dict):
        members = (f"{_string(key)}:{json_text(value)}" for key, value in fact.items())
        return "{" + ",".join(members) + "}"
    if isinstance(fact, (list, tuple)):
        return "[" + ",".join(json_text(value) for value in fact) + "]"
    if isinstance(fact, str):
        return _string(fact)
    return _value_text(fact)


def _string(text: str) -> str:
    """A JSON string; `json.dumps` would leave DEL as it is and write \\b and \\f."""
    return '"' + _SPECIAL.sub(lambda found: _escape(found.group()), text) + '"'


def _escape(character: str) -> str:
    return _SHORT_ESCAPES.get(character) or f"\\u00{ord(character):02x}"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _value_text(value: Any) -> str:
    """JSON of a CBOR value, by the section "Values"."""
    if value is None or value is cbor2.undefined:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
            return _string(_big_text(value))
        return str(value) if abs(value) <= LARGEST_EXACT else _string(str(value))
    if isinstance(value, float):
        return _double_text(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bytes):
        return _string(_base64(value))
    if isinstance(value, decimal.Decimal):
        return _string(_decimal_text(value))
    if isinstance(value, datetime.datetime):
        microseconds = (value - EPOCH) // datetime.timedelta(microseconds=1)
        return _string(date_text(round(microseconds / 1000)))
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_value_text(item) for item in value) + "]"
    if isinstance(value, dict):
        members = (f"{_key_text(key)}:{_value_text(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, cbor2.CBORTag):
        return _value_text(value.value)
    if isinstance(value, cbor2.CBORSimpleValue):
        return "null"
    raise Unreadable(f"no value: {type(value).__name__}")


def _key_text(key: Any) -> str:
    return _string(key if isinstance(key, str) else _value_text(key))


def _big_text(value: int) -> str:
    """The bytes of a number that tag 2 or 3 holds; `~` before those of a negative one."""
    magnitude = value if value >= 0 else -1 - value
    data = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")
    return ("~" if value < 0 else "") + _base64(data)


def _double_text(value: float) -> str:
    """The shortest digits that read back the same; an exponent from 2^53 on and below 0.0001."""
    if not math.isfinite(value):
        return "null"
    size = abs(value)
    text = repr(value)
    if size <= LARGEST_EXACT or "e" in text:
        return text
    digits = text.partition(".")[0].lstrip("-")
    mantissa = digits.rstrip("0")
    point = "." + mantissa[1:] if len(mantissa) > 1 else ".0"
    sign = "-" if value < 0 else ""
    return f"{sign}{mantissa[0]}{point}e+{len(digits) - 1}"


def _decimal_text(value: decimal.Decimal) -> str:
    """All digits, or an exponent where more than 20 zeros would be needed."""
    sign, digit_tuple, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise Unreadable("no decimal number")
    digits = "".join(map(str, digit_tuple))
    zeros = exponent if exponent >= 0 else -exponent - len(digits)
    if zeros > WRITTEN_ZEROS:
        return f"{'-' if sign else ''}{digits}e{exponent}"
    return format(value, "f")
