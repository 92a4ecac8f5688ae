"""Devices: where networks run."""
import ctypes
import threading
import weakref
from collections import deque
from typing import Callable, NamedTuple

from . import _structs
from ._library import Error, check, lib, raw, text
from ._results import filled, record, values

DeviceInfo = record("DeviceInfo", _structs.tsr_device_info)
DevicePeaks = record("DevicePeaks", _structs.tsr_device_peaks)


class ListedDevice(NamedTuple):
    """Device(**options) makes it, unless `info` is None: `reason` says then why there is none."""

    options: dict
    info: DeviceInfo | None
    reason: str | None


class _Handle:
    """A tsr_device, and what is needed to destroy it and its sessions on any thread.

    The lock is held during every call that takes the device or a session on it. What the garbage
    collector finds is destroyed at once, or, since it must not wait, by the next call.
    """

    def __init__(self, address: int):
        self.address = address
        self.lock = threading.RLock()
        self.unused = deque()

    def __enter__(self):
        self.lock.acquire()
        self.destroy_unused()

    def __exit__(self, *_):
        self.lock.release()

    def destroy_unused(self) -> None:
        while self.unused:
            destroy, address = self.unused.popleft()
            destroy(address)

    def drop(self, sessions: list[int], model: int) -> None:
        """Destroys them, but does not wait for other threads."""
        self.unused.extend((lib.tsr_session_destroy, session) for session in sessions)
        self.unused.append((lib.tsr_model_free, model))
        if self.lock.acquire(blocking=False):
            try:
                self.destroy_unused()
            finally:
                self.lock.release()

    def close(self) -> None:
        with self:
            lib.tsr_device_destroy(self.address)
            self.address = None


class Device:
    """A device, which sessions can share.

    backend: "gles", "webgpu" or "cpu". gpu: 1 for the first, 0 for an automatic choice. platform,
    of gles: "auto", "surfaceless", "device", "default", or "current": the GLES 3 context that is
    current now, and has to be at each later call that takes the device or a session on it; its
    entry points are found by get_proc_address(name: bytes) -> address, by default in the system's
    libGLESv2. adapter, of webgpu: a part of the adapter's name. Other options are members of
    tsr_device_desc.

    Calls from several threads wait for each other. close(), or the end of a `with` block, drops
    the device; sessions on it work until they are closed.
    """

    def __init__(self, backend: str = "gles", *, gpu: int = 0, platform: str = "auto",
                 adapter: str | None = None, kernels: str | None = None,
                 get_proc_address: Callable[[bytes], int] | None = None,
                 max_texture_size: int = 0, max_draw_buffers: int = 0,
                 max_uniform_block_bytes: int = 0, max_buffer_bytes: int = 0,
                 caller_restores_state: bool = False):
        if platform.upper() not in _structs.PLATFORMS:
            raise Error("INVALID_ARGUMENT", f"there is no platform '{platform}'")
        desc = _structs.tsr_device_desc(raw(backend), gpu, raw(kernels) if kernels else None)
        gles = desc.gles
        gles.platform = _structs.PLATFORMS.index(platform.upper())
        if get_proc_address:
            self._get_proc_address = type(gles.get_proc_address)(get_proc_address)
            gles.get_proc_address = self._get_proc_address
        gles.max_texture_size = max_texture_size
        gles.max_draw_buffers = max_draw_buffers
        gles.max_uniform_block_bytes = max_uniform_block_bytes
        gles.caller_restores_state = caller_restores_state
        desc.webgpu.adapter = raw(adapter) if adapter else None
        desc.webgpu.max_buffer_bytes = max_buffer_bytes
        address = ctypes.c_void_p()
        check(lib.tsr_device_create_sized(desc, ctypes.sizeof(desc), ctypes.byref(address)))
        self._handle = _Handle(address.value)
        self._finalizer = weakref.finalize(self, self._handle.close)

    def __repr__(self):
        info = self.info if self._handle.address else None
        return f"<Device {info.backend}: {info.name}>" if info else "<Device, closed>"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Has no effect the second time."""
        self._finalizer()

    @property
    def address(self) -> int:
        """The tsr_device *, for other code that uses the library; Error after close()."""
        if not self._handle.address:
            raise Error("INVALID_ARGUMENT", "the device is closed")
        return self._handle.address

    @property
    def info(self) -> DeviceInfo:
        """The members of tsr_device_info."""
        with self._handle:
            return DeviceInfo(**values(filled(_structs.tsr_device_info,
                                              lib.tsr_device_get_info_sized, self.address)))

    def measure(self) -> DevicePeaks:
        """Peak rates, the members of tsr_device_peaks. Needs about a second; not of cpu."""
        with self._handle:
            return DevicePeaks(**values(filled(_structs.tsr_device_peaks,
                                               lib.tsr_device_measure_sized, self.address)))


def _options(desc: _structs.tsr_device_desc) -> dict:
    options = {"backend": text(desc.backend)}
    if desc.gpu:
        options["gpu"] = desc.gpu
    if desc.gles.platform:
        options["platform"] = _structs.PLATFORMS[desc.gles.platform].lower()
    if desc.webgpu.adapter:
        options["adapter"] = text(desc.webgpu.adapter)
    return options


def list_devices() -> list[ListedDevice]:
    """Every device that could be made here, and every backend that finds none."""
    found = []

    @_structs.tsr_device_fn
    def add(_, desc, info, reason):
        described = DeviceInfo(**values(info.contents)) if info else None
        found.append(ListedDevice(_options(desc.contents), described, text(reason)))

    lib.tsr_list_devices_sized(add, None, ctypes.sizeof(_structs.tsr_device_desc),
                               ctypes.sizeof(_structs.tsr_device_info))
    return found
