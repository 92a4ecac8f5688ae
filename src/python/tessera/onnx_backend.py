"""The interface of onnx.backend.base, which ONNX's own tests use. Needs the package onnx."""
from typing import Any, Sequence

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from .device import Device
from .options import get_available_providers
from .session import InferenceSession

# By ONNX's names of devices.
BACKENDS = {"CPU": "cpu", "GLES": "gles", "WEBGPU": "webgpu"}


class TesseraRep(BackendRep):
    """A prepared model."""

    def __init__(self, session: InferenceSession):
        self.session = session

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """inputs: arrays in the model's order, or by name, or the only one."""
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        if not isinstance(inputs, dict):
            inputs = dict(zip([arg.name for arg in self.session.get_inputs()], inputs, strict=True))
        return tuple(self.session.run(None, inputs))


class TesseraBackend(Backend):
    """device: "CPU", "GLES" or "WEBGPU", or a Device; other arguments are InferenceSession's."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str | Device = "CPU",
                **kwargs: Any) -> TesseraRep:
        where = {"device": device} if isinstance(device, Device) else {"backend": BACKENDS[device]}
        return TesseraRep(InferenceSession(model.SerializeToString(), **where, **kwargs))

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str | Device = "CPU",
                 outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
                 **kwargs: Any) -> tuple[np.ndarray, ...]:
        """inputs: arrays, one for each name that is not empty. opset_version is of the model."""
        arrays = [np.asarray(array) for array in inputs]
        names = [name for name in node.input if name]
        types = onnx.mapping.NP_TYPE_TO_TENSOR_TYPE
        graph = onnx.helper.make_graph(
            [node], "node",
            [onnx.helper.make_tensor_value_info(name, types[array.dtype], array.shape)
             for name, array in zip(names, arrays, strict=True)],
            [onnx.ValueInfoProto(name=name) for name in node.output if name])
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
        return cls.run_model(model, arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return BACKENDS.get(device) in get_available_providers()


prepare = TesseraBackend.prepare
run_model = TesseraBackend.run_model
run_node = TesseraBackend.run_node
supports_device = TesseraBackend.supports_device
