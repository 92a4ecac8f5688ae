"""The shared library: where it is, its functions, its errors."""
import ctypes
import os
import re
from pathlib import Path

from ._structs import ABI_VERSION, SCALARS, STRUCTS

# As the headers declare them, from which tests/python/test_header.py takes care that they do not differ.
DECLARATIONS = """
const char *tsr_version(void);
const char *tsr_status_name(tsr_status status);
const char *tsr_last_error(void);
const char *tsr_dtype_name(tsr_dtype dtype);
tsr_status tsr_device_create_sized(const tsr_device_desc *desc, size_t size, tsr_device **device);
void tsr_device_destroy(tsr_device *device);
tsr_status tsr_device_get_info_sized(const tsr_device *device, tsr_device_info *info, size_t size);
tsr_status tsr_device_measure_sized(tsr_device *device, tsr_device_peaks *peaks, size_t size);
void tsr_list_devices_sized(tsr_device_fn fn, void *user, size_t desc_size, size_t info_size);
tsr_status tsr_model_load_sized(const char *path, const tsr_model_desc *desc, size_t size,
    size_t custom_op_size, tsr_model **model);
tsr_status tsr_model_load_memory_sized(const void *bytes, size_t count, const tsr_model_desc *desc,
    size_t size, size_t custom_op_size, tsr_model **model);
void tsr_model_free(tsr_model *model);
int tsr_model_input_count(const tsr_model *model);
int tsr_model_output_count(const tsr_model *model);
tsr_status tsr_model_input_sized(const tsr_model *model, int index, tsr_tensor_info *info,
    size_t size);
tsr_status tsr_model_output_sized(const tsr_model *model, int index, tsr_tensor_info *info,
    size_t size);
bool tsr_model_input_is_parameter(const tsr_model *model, int index);
bool tsr_model_metadata(const tsr_model *model, int index, const char **key, const char **value);
tsr_status tsr_session_create_sized(tsr_device *device, const tsr_model *model,
    const tsr_session_desc *desc, size_t size, tsr_session **session);
void tsr_session_destroy(tsr_session *session);
tsr_status tsr_session_calibrate(tsr_session *session);
int tsr_session_output_count(const tsr_session *session);
tsr_status tsr_session_output_sized(const tsr_session *session, int index, tsr_tensor_info *info,
    size_t size);
tsr_status tsr_session_set_input_array_sized(tsr_session *session, const char *name,
    const tsr_array *array, size_t size);
tsr_status tsr_session_run(tsr_session *session);
tsr_status tsr_session_submit(tsr_session *session);
tsr_status tsr_session_transfer_outputs(tsr_session *session, bool transfer);
tsr_status tsr_session_get_output_array_sized(tsr_session *session, const char *name,
    const tsr_array *array, size_t size);
tsr_status tsr_session_output_texture_sized(tsr_session *session, const char *name,
    tsr_texture *texture, size_t size);
tsr_status tsr_session_report_sized(const tsr_session *session, tsr_report *report, size_t size);
tsr_status tsr_session_node_report_sized(const tsr_session *session, int index,
    tsr_node_report *report, size_t size);
tsr_status tsr_session_candidate_report_sized(const tsr_session *session, int node, int i,
    tsr_candidate_report *report, size_t size);
tsr_status tsr_session_optimizer_pass_sized(const tsr_session *session, int index,
    tsr_optimizer_pass_report *report, size_t size);
tsr_status tsr_session_write_dot(const tsr_session *session, tsr_write_fn write, void *user);
"""


class Error(RuntimeError):
    """Whatever fails. `status` is a name of tsr_status: "UNSUPPORTED", "SHAPE", ..."""

    def __init__(self, status: str, message: str):
        super().__init__(message)
        self.status = status.removeprefix("ERROR_")


def _type(text: str):
    """The ctypes type of a C type; a struct of which nothing is known here is an address."""
    base, stars = text.replace("const", "").replace("*", "").strip(), text.count("*")
    if stars == 0:
        return None if base == "void" else SCALARS[base]
    if base == "char":
        kind, stars = ctypes.c_char_p, stars - 1
    elif base in STRUCTS:
        kind = STRUCTS[base]
    else:
        kind, stars = ctypes.c_void_p, stars - 1
    return ctypes.POINTER(kind) if stars else kind


def _declare(library) -> None:
    for line in DECLARATIONS.split(";")[:-1]:
        line = " ".join(line.split())
        result, name, parameters = re.fullmatch(r"(.*?)(\w+)\((.*)\)", line).groups()
        function = getattr(library, name)
        function.restype = _type(result)
        function.argtypes = [_type(re.sub(r"\w+$", "", parameter))
                             for parameter in parameters.split(", ") if parameter != "void"]


def _load():
    """The file that TSR_LIBRARY names, else this folder's, as in a wheel, else the system's."""
    name = f"libtessera.so.{ABI_VERSION}"
    folder = Path(__file__).parent
    path = os.environ.get("TSR_LIBRARY") or (folder / name if (folder / name).exists() else name)
    try:
        for needed in folder.glob("libprotobuf-c.so.*"):
            ctypes.CDLL(str(needed))  # found by its name then, whatever the system has
        library = ctypes.CDLL(str(path))
        _declare(library)
    except (OSError, AttributeError) as error:
        raise ImportError(f"{path}: {error}; the environment variable TSR_LIBRARY can name another "
                          "file of Tessera's library") from error
    return library


lib = _load()


def check(status: int) -> None:
    """Raises what tsr_last_error() says, unless the status is TSR_OK."""
    if status:
        raise Error(lib.tsr_status_name(status).decode(), text(lib.tsr_last_error()))


def text(string) -> str | None:
    """A const char * as str: paths and names of a model need not be UTF-8."""
    return None if string is None else string.decode("utf-8", "surrogateescape")


def raw(string: str) -> bytes:
    """The reverse of text()."""
    return string.encode("utf-8", "surrogateescape")
