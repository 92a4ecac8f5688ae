"""How sessions are made: options, and the choice of a device."""
import warnings
from dataclasses import dataclass, field
from typing import Sequence

from ._library import Error
from .device import Device, list_devices

# ONNX Runtime's names of execution providers.
_PROVIDERS = {"CPUExecutionProvider": "cpu", "WebGpuExecutionProvider": "webgpu"}
_BACKENDS = ("gles", "webgpu", "cpu")


@dataclass(slots=True)
class SessionOptions:
    """The members of tsr_session_desc, which documents them, under their names.

    precision: "fp32", "fp16", or "auto", which calibrates with the inputs of the first run.
    weights: "auto", "fp32", "fp16", "int8" or "int4". dims: sizes of symbolic dimensions.
    extra_outputs: names of inner tensors that run() can return, too. kept_shapes: how many
    combinations of shapes stay prepared; the one that was not used for the longest time goes.
    """

    precision: str = "fp32"
    weights: str = "auto"
    allow_cpu_fallback: bool = False
    texture_outputs: bool = False
    time_passes: bool = False
    override_shapes: bool = False
    tune_ms: int = 0
    optimizer_passes: str | None = None
    extra_outputs: Sequence[str] = ()
    dims: dict[str, int] = field(default_factory=dict)
    kept_shapes: int = 8

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """As ONNX Runtime's: the same as dims[name] = size."""
        self.dims[name] = size


def number_of(kind: str, name: str, enumerators: Sequence[str]) -> int:
    if name.upper() not in enumerators:
        known = ", ".join(enumerators).lower()
        raise Error("INVALID_ARGUMENT", f"there is no {kind} '{name}', only {known}")
    return enumerators.index(name.upper())


def get_available_providers() -> list[str]:
    """The backends that have a device here, best first."""
    found = {listed.options["backend"] for listed in list_devices() if listed.info}
    return [backend for backend in _BACKENDS if backend in found]


def choose_device(providers, provider_options) -> tuple[Device, bool]:
    """The first provider's device that can be made; whether "cpu" follows it.

    A provider, of one or more, is a name, or a pair of one and options of Device. Those that are
    left out are warned of.
    """
    given = [(entry, {}) if isinstance(entry, str) else entry for entry in providers]
    if provider_options and len(provider_options) != len(given):
        raise Error("INVALID_ARGUMENT", f"there are {len(given)} providers, but "
                                        f"{len(provider_options)} provider_options")
    if provider_options:
        given = [(name, options) for (name, _), options in zip(given, provider_options)]
    given = [(_PROVIDERS.get(name, name), options) for name, options in given]
    while True:
        (name, options), *given = given
        try:
            return Device(name, **options), "cpu" in [later for later, _ in given]
        except Error as error:
            if error.status != "NO_DEVICE" or not given:
                raise
            warnings.warn(f"{name} is left out: {error}", stacklevel=3)
