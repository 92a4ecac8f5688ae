"""Tessera: neural networks as OpenGL ES fragment shaders, WebGPU compute kernels, or on the CPU.

    session = tessera.InferenceSession("net.onnx", backend="gles")
    (y,) = session.run(None, {"x": x})

The interface is that of onnxruntime's InferenceSession. Whatever fails raises tessera.Error.
"""
from ._library import Error, lib, text
from .device import Device, DeviceInfo, DevicePeaks, ListedDevice, list_devices
from .options import SessionOptions, get_available_providers
from .report import CandidateReport, NodeReport, OptimizerPassReport, SessionReport
from .session import InferenceSession, ModelMetadata, NodeArg, Texture

__version__ = text(lib.tsr_version())

__all__ = [
    "CandidateReport", "Device", "DeviceInfo", "DevicePeaks", "Error", "InferenceSession",
    "ListedDevice", "ModelMetadata", "NodeArg", "NodeReport", "OptimizerPassReport",
    "SessionOptions", "SessionReport", "Texture", "get_available_providers", "list_devices"]
