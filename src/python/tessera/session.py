"""Networks, by the interface of onnxruntime's InferenceSession."""
import ctypes
import itertools
import os
import weakref
from collections import OrderedDict
from dataclasses import replace
from typing import Mapping, NamedTuple, Sequence

import numpy as np

from . import _structs
from ._dtypes import DTYPES, dense
from ._library import Error, check, lib, raw, text
from ._results import filled, record, values
from .device import Device
from .options import SessionOptions, choose_device
from .plan import Plan
from .report import SessionReport, make_report, write_dot

Texture = record("Texture", _structs.tsr_texture)


class NodeArg(NamedTuple):
    """An input or output: type as "tensor(float)"; shape as the model declares it (of outputs, as
    it is computed, if those of all inputs are known): a list of sizes, names of symbolic dimensions
    and None for others; None where not even the rank is known."""

    name: str
    type: str
    shape: list[int | str | None] | None


class ModelMetadata(NamedTuple):
    custom_metadata_map: dict[str, str]


def _load_model(path_or_bytes) -> int:
    model = ctypes.c_void_p()
    if isinstance(path_or_bytes, (str, os.PathLike)):
        check(lib.tsr_model_load_sized(os.fsencode(path_or_bytes), None, 0, 0,
                                       ctypes.byref(model)))
    else:
        content = bytes(path_or_bytes)
        check(lib.tsr_model_load_memory_sized(content, len(content), None, 0, 0,
                                              ctypes.byref(model)))
    return model.value


def _describe(info: _structs.tsr_tensor_info) -> NodeArg:
    sizes = info.shape.sizes()
    shape = None if sizes is None else [size if size >= 0 else text(name)
                                        for size, name in zip(sizes, info.dim_name)]
    return NodeArg(text(info.name), DTYPES[info.dtype].ort, shape)


def _release(handle, plans, model) -> None:
    handle.drop([plan.address for plan in plans.values()], model)
    plans.clear()


class InferenceSession:
    """A model on a device, prepared for each combination of input shapes that it is run with.

    path_or_bytes: an ONNX file, or what is in one. providers: names of backends ("gles", "webgpu",
    "cpu"; ONNX Runtime's "CPUExecutionProvider" is "cpu"), or pairs of one and options of Device:
    the first that has a device is used. If "cpu" follows it, nodes that it lacks run on the CPU:
    SessionOptions.allow_cpu_fallback. backend="gles" is the same as providers=["gles"], which is
    the default. device: one that exists, which stays the caller's.

    A model whose shapes are known is prepared at once, others by run(). May be used from several
    threads, which wait for each other. close(), or the end of a `with` block, frees what it holds
    and its own device.
    """

    def __init__(self, path_or_bytes, sess_options: SessionOptions | None = None,
                 providers: Sequence | None = None, provider_options: Sequence[dict] | None = None,
                 *, backend: str | None = None, device: Device | None = None):
        if (providers is not None) + (backend is not None) + (device is not None) > 1:
            raise Error("INVALID_ARGUMENT", "give one of providers, backend and device")
        self._options = replace(sess_options) if sess_options else SessionOptions()
        self._fallback = self._options.allow_cpu_fallback
        self._own_device = device is None
        if device is None:
            device, on_cpu = choose_device(providers or [backend or "gles"], provider_options)
            self._fallback = self._fallback or on_cpu
        self._device, self._handle = device, device._handle
        self._plans: OrderedDict[tuple, Plan] = OrderedDict()
        self._model = _load_model(path_or_bytes)
        self._finalizer = weakref.finalize(self, _release, self._handle, self._plans, self._model)
        self._read_model()
        self._prepare_known()

    def _read_model(self) -> None:
        model = self._model
        inputs = [filled(_structs.tsr_tensor_info, lib.tsr_model_input_sized, model, i)
                  for i in range(lib.tsr_model_input_count(model))]
        self._inputs = [_describe(info) for info in inputs]
        self._input_dtypes = [DTYPES[info.dtype] for info in inputs]
        self._outputs = self._describe_outputs(lib.tsr_model_output_sized, model)
        self._parameters = [i for i in range(len(inputs))
                            if lib.tsr_model_input_is_parameter(model, i)]

    def _describe_outputs(self, function, address: int) -> list[NodeArg]:
        return [_describe(filled(_structs.tsr_tensor_info, function, address, i))
                for i in range(lib.tsr_model_output_count(self._model))]

    def _prepare_known(self) -> None:
        shapes = [None if arg.shape is None else
                  tuple(self._options.dims.get(size, size) for size in arg.shape)
                  for arg in self._inputs]
        known = all(shape is not None and all(isinstance(size, int) for size in shape)
                    for shape in shapes)
        if known and not self._parameters and not self._options.override_shapes:
            with self._handle:
                plan = self._plan(tuple(shapes), ())
                self._outputs = self._describe_outputs(lib.tsr_session_output_sized, plan.address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Has no effect the second time."""
        with self._handle:
            self._finalizer()
        if self._own_device:
            self._device.close()

    # ---- what it is --------------------------------------------------------------------------

    @property
    def device(self) -> Device:
        return self._device

    def get_inputs(self) -> list[NodeArg]:
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        """The backend, and "cpu" after it if that may run nodes, too."""
        backend = self._device.info.backend
        return [backend, "cpu"] if self._fallback and backend != "cpu" else [backend]

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_modelmeta(self) -> ModelMetadata:
        entries, key, value = {}, ctypes.c_char_p(), ctypes.c_char_p()
        with self._handle:
            self._check_open()
            for i in itertools.count():
                if not lib.tsr_model_metadata(self._model, i, ctypes.byref(key),
                                              ctypes.byref(value)):
                    return ModelMetadata(entries)
                entries[text(key.value)] = text(value.value)

    def report(self) -> SessionReport:
        """Of the latest run, or of what was prepared for it: tsr_report and all below it."""
        with self._handle:
            return make_report(self._latest())

    def write_dot(self) -> str:
        """The graph of the latest run, as the optimizer left it, in Graphviz' language DOT."""
        with self._handle:
            return write_dot(self._latest())

    # ---- running -----------------------------------------------------------------------------

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, np.ndarray],
            run_options=None) -> list[np.ndarray]:
        """New arrays, in the order of output_names; None: every output of the model.

        input_feed has an array for each input. Those of another type than the input's are
        converted; integers that the type, or a float32, cannot hold exactly are refused, float64 is
        rounded to float32. Numpy has no bfloat16, which is float32 here, nor int4 and uint4, which
        are int8 and uint8. Arrays that are not contiguous are copied. Inputs that operators use as
        parameters, a Reshape's shape say, are compiled in as constants: other values, like other
        shapes, compile again. run_options is ignored.
        """
        with self._handle:
            plan = self._start(input_feed, lib.tsr_session_run)
            names = output_names or plan.model_outputs
            return [plan.read(name) for name in names]

    def run_to_textures(self, output_names: Sequence[str] | None,
                        input_feed: Mapping[str, np.ndarray]) -> list[Texture]:
        """As run(), on gles with SessionOptions.texture_outputs, but does not wait for the GPU and
        copies nothing: textures of the device's context with the members of tsr_texture, valid
        until another run. Those of other shapes stay as long as these shapes are kept."""
        with self._handle:
            plan = self._start(input_feed, lib.tsr_session_submit)
            names = output_names or plan.model_outputs
            return [Texture(**values(filled(_structs.tsr_texture,
                                            lib.tsr_session_output_texture_sized, plan.address,
                                            raw(name)))) for name in names]

    def _check_open(self) -> None:
        if not self._finalizer.alive:
            raise Error("INVALID_ARGUMENT", "the session is closed")

    def _latest(self) -> int:
        self._check_open()
        if not self._plans:
            raise Error("INVALID_ARGUMENT", "the shapes are not known yet: nothing was run")
        return next(reversed(self._plans.values())).address

    def _arrays(self, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Of all inputs, in the model's order."""
        arrays = []
        for (name, _, _), dtype in zip(self._inputs, self._input_dtypes):
            if name not in feed:
                raise Error("INVALID_ARGUMENT", f"there is no array for input '{name}'")
            arrays.append(dense(name, np.asarray(feed[name]), dtype))
        if len(feed) != len(arrays):
            unknown = sorted(set(feed) - {arg.name for arg in self._inputs})
            known = ", ".join(arg.name for arg in self._inputs)
            raise Error("INVALID_ARGUMENT", f"there is no input {', '.join(unknown)}, only {known}")
        return arrays

    def _start(self, feed, function) -> Plan:
        self._check_open()
        arrays = self._arrays(feed)
        fixed = tuple((i, self._constant(i, arrays[i])) for i in self._parameters)
        plan = self._plan(tuple([array.shape for array in arrays]), fixed)
        for i, name in plan.inputs:
            plan.set_input(name, arrays[i])
        if not plan.calibrated:
            check(lib.tsr_session_calibrate(plan.address))
            plan.calibrated = True
        check(function(plan.address))
        return plan

    def _constant(self, i: int, array: np.ndarray) -> bytes:
        """The elements of a parameter, in its own type."""
        dtype, name = self._input_dtypes[i], self._inputs[i].name
        if dtype.name == "bfloat16":
            raise Error("UNSUPPORTED", f"input '{name}': a parameter of bfloat16")
        if not np.can_cast(array.dtype, dtype.numpy):
            raise Error("INVALID_ARGUMENT", f"input '{name}': a parameter of {dtype.name} cannot "
                                            f"be made from {array.dtype}")
        return array.astype(dtype.numpy).tobytes()

    def _plan(self, shapes: tuple, fixed: tuple) -> Plan:
        """What was prepared for these shapes and constants; is the latest then."""
        key = shapes, fixed
        plan = self._plans.get(key)
        if plan:
            self._plans.move_to_end(key)
            return plan
        while len(self._plans) >= max(self._options.kept_shapes, 1):
            lib.tsr_session_destroy(self._plans.popitem(last=False)[1].address)
        self._plans[key] = plan = self._make_plan(shapes, dict(fixed))
        return plan

    def _make_plan(self, shapes: tuple, fixed: dict[int, bytes]) -> Plan:
        names = [raw(arg.name) for arg in self._inputs]
        constants = [_structs.tsr_fixed_input(names[i], DTYPES.index(self._input_dtypes[i]),
                                              _structs.shape_of(shapes[i]),
                                              ctypes.cast(content, ctypes.c_void_p))
                     for i, content in fixed.items()]
        open_inputs = [i for i in range(len(names)) if i not in fixed]
        sizes = [_structs.tsr_input_shape(names[i], _structs.shape_of(shapes[i]))
                 for i in open_inputs]
        return Plan(self._device.address, self._model, self._options, self._fallback,
                    [(i, names[i]) for i in open_inputs], sizes, constants)
