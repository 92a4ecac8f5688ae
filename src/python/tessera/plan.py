"""A tsr_session: a model prepared for a device and the shapes of its inputs."""
import ctypes

import numpy as np

from . import _structs
from ._dtypes import CODES, DTYPES
from ._library import Error, check, lib, raw, text
from ._results import filled
from .options import SessionOptions, number_of

_INFO_SIZE = ctypes.sizeof(_structs.tsr_tensor_info)
_ARRAY_SIZE = ctypes.sizeof(_structs.tsr_array)


def _describe(options: SessionOptions, fallback: bool) -> _structs.tsr_session_desc:
    desc = _structs.tsr_session_desc()
    desc.precision = number_of("precision", options.precision, _structs.PRECISIONS)
    desc.weights = number_of("type of weights", options.weights, _structs.WEIGHTS)
    desc.allow_cpu_fallback = fallback
    desc.texture_outputs = options.texture_outputs
    desc.time_passes = options.time_passes
    desc.override_shapes = options.override_shapes
    desc.tune_ms = options.tune_ms
    if options.optimizer_passes is not None:
        desc.optimizer_passes = raw(options.optimizer_passes)
    return desc


def _set_list(desc, member: str, count: str, kind, items: list) -> None:
    """The struct keeps the array alive."""
    setattr(desc, member, (kind * len(items))(*items))
    setattr(desc, count, len(items))


class Plan:
    """inputs: indices and names of those that set_input() takes. Calls are serialised by the
    caller, who destroys the address, too."""

    def __init__(self, device: int, model: int, options: SessionOptions, fallback: bool,
                 inputs: list[tuple[int, bytes]], shapes: list, fixed: list):
        desc = _describe(options, fallback)
        dims = [_structs.tsr_dim_binding(raw(name), size) for name, size in options.dims.items()]
        extra = [raw(name) for name in options.extra_outputs]
        _set_list(desc, "dims", "dim_count", _structs.tsr_dim_binding, dims)
        _set_list(desc, "shapes", "shape_count", _structs.tsr_input_shape, shapes)
        _set_list(desc, "fixed", "fixed_count", _structs.tsr_fixed_input, fixed)
        _set_list(desc, "extra_outputs", "extra_output_count", ctypes.c_char_p, extra)
        address = ctypes.c_void_p()
        check(lib.tsr_session_create_sized(device, model, desc, ctypes.sizeof(desc),
                                           ctypes.byref(address)))
        self.address = address.value
        self.inputs = inputs
        self.calibrated = options.precision != "auto"
        try:
            self._read_outputs(model, options.texture_outputs)
        except Error:
            lib.tsr_session_destroy(self.address)
            raise
        # Filled by every call, since a struct costs more than the call.
        self._array, self._info = _structs.tsr_array(), _structs.tsr_tensor_info()
        self._array_at, self._info_at = ctypes.byref(self._array), ctypes.byref(self._info)

    def _read_outputs(self, model: int, as_textures: bool) -> None:
        if as_textures:
            check(lib.tsr_session_transfer_outputs(self.address, False))
        names = [filled(_structs.tsr_tensor_info, lib.tsr_session_output_sized, self.address,
                        i).name for i in range(lib.tsr_session_output_count(self.address))]
        self.outputs = {text(name): (i, name) for i, name in enumerate(names)}
        self.model_outputs = [text(name) for name in names[:lib.tsr_model_output_count(model)]]

    def _point(self, array: np.ndarray, code: int) -> None:
        self._array.data = array.ctypes.data
        self._array.count = array.size
        self._array.dtype = code

    def set_input(self, name: bytes, array: np.ndarray) -> None:
        """array: as dense() returns it. It is copied before the call returns."""
        self._point(array, CODES[array.dtype])
        check(lib.tsr_session_set_input_array_sized(self.address, name, self._array_at,
                                                    _ARRAY_SIZE))

    def read(self, name: str) -> np.ndarray:
        """A new array with an output of the latest run, which decides on its shape."""
        if name not in self.outputs:
            known = ", ".join(self.outputs)
            raise Error("INVALID_ARGUMENT", f"there is no output '{name}', only {known}")
        index, raw_name = self.outputs[name]
        info = self._info
        check(lib.tsr_session_output_sized(self.address, index, self._info_at, _INFO_SIZE))
        dtype = DTYPES[info.dtype].numpy
        array = np.empty(info.shape.sizes(), dtype)
        self._point(array, CODES[dtype])
        check(lib.tsr_session_get_output_array_sized(self.address, raw_name, self._array_at,
                                                     _ARRAY_SIZE))
        return array
