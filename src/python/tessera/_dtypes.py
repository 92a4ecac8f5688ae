"""Element types: the library's, numpy's, and ONNX Runtime's names of them."""
from typing import NamedTuple

import numpy as np

from ._library import Error, lib
from ._structs import MAX_RANK


class Dtype(NamedTuple):
    name: str  # the library's, which is numpy's where numpy has the type
    numpy: np.dtype  # of arrays that hold its elements
    ort: str


# What numpy lacks is held in another type, each of its values exactly.
_HELD_IN = {"bfloat16": "float32", "int4": "int8", "uint4": "uint8"}
_ORT = {"float32": "float", "float64": "double"}


def _make(name: str) -> Dtype:
    return Dtype(name, np.dtype(_HELD_IN.get(name, name)), f"tensor({_ORT.get(name, name)})")


def _list():
    """By the numbers of tsr_dtype."""
    names, number = [], 0
    while (name := lib.tsr_dtype_name(number).decode()) != "unknown type":
        names.append(name)
        number += 1
    return [_make(name) for name in names]


DTYPES = _list()
# The tsr_dtype of arrays of a numpy type, in the machine's byte order.
CODES = {dtype.numpy: code for code, dtype in enumerate(DTYPES) if dtype.name not in _HELD_IN}


def dense(name: str, array: np.ndarray, dtype: Dtype) -> np.ndarray:
    """The array itself if C can read it as elements of this type, else a copy that it can.

    name: the input's. Error UNSUPPORTED where elements would become others without a word.
    """
    if array.ndim > MAX_RANK:
        raise Error("SHAPE", f"input '{name}': an array of {array.ndim} axes, more than {MAX_RANK}")
    if array.dtype == np.float64 and dtype.numpy.kind == "f":
        return _rounded(name, array)
    if array.dtype == np.uint16 and dtype.name == "bfloat16":
        raise Error("UNSUPPORTED", f"input '{name}' is bfloat16: give it as float32, not as bits")
    flags = array.flags
    if array.dtype in CODES and flags.c_contiguous and flags.aligned:
        return array
    native = array.dtype.newbyteorder("=")
    if native not in CODES:
        raise Error("UNSUPPORTED", f"input '{name}': arrays of {array.dtype} are not supported")
    return np.require(array, native, ["C", "A"])


def _rounded(name: str, array: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float32, order="C")
    if np.isinf(rounded).sum() != np.isinf(array).sum():
        raise Error("UNSUPPORTED", f"input '{name}': an element of float64 is beyond the range of "
                                   "float32, with which the library computes")
    return rounded
