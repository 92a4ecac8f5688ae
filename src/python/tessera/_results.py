"""Structs that the library fills, as named tuples."""
import ctypes
from collections import namedtuple

from . import _structs
from ._dtypes import DTYPES
from ._library import check, text

_ENUMERATORS = {"dtype": [dtype.name for dtype in DTYPES],
                "precision": [name.lower() for name in _structs.PRECISIONS]}


def filled(kind, function, *arguments):
    """A new struct of this kind, filled by function(*arguments, struct, size)."""
    struct = kind()
    check(function(*arguments, ctypes.byref(struct), ctypes.sizeof(struct)))
    return struct


def record(name: str, kind, *more: str):
    """A type of named tuples with the members of a struct, and more."""
    return namedtuple(name, [member for member, _ in kind._fields_] + list(more))


def values(struct) -> dict:
    """A struct by its members: strings, numbers, tuples, names of enumerators."""
    return {name: _value(name, getattr(struct, name)) for name, _ in struct._fields_}


def _value(name: str, value):
    if isinstance(value, bytes):
        return text(value)
    if isinstance(value, _structs.tsr_shape):
        return value.sizes()
    return _ENUMERATORS[name][value] if name in _ENUMERATORS else value
