"""The structs of tessera.h that this package uses, under their names in C.

tests/python/test_header.py compares them with the header: sizes, offsets, enumerators.
"""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_float, c_int,
                    c_int64, c_size_t, c_uint32, c_uint64, c_void_p)

MAX_RANK = 8
ABI_VERSION = 1

# Enumerators in their order.
PLATFORMS = ("AUTO", "SURFACELESS", "DEVICE", "DEFAULT", "CURRENT")
PRECISIONS = ("FP32", "FP16", "AUTO")
WEIGHTS = ("AUTO", "FP32", "FP16", "INT8", "INT4")


def _members(kind, names):
    return [(name, kind) for name in names.split()]


class tsr_shape(Structure):
    _fields_ = [("rank", c_int), ("dim", c_int64 * MAX_RANK)]

    def sizes(self):
        """A tuple; None where not even the rank is known."""
        return tuple(self.dim[:self.rank]) if self.rank >= 0 else None


def shape_of(sizes) -> tsr_shape:
    """At most MAX_RANK sizes."""
    return tsr_shape(len(sizes), (c_int64 * MAX_RANK)(*sizes))


class tsr_tensor_info(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", tsr_shape),
                ("dim_name", c_char_p * MAX_RANK)]


class tsr_gles_desc(Structure):
    _fields_ = [("platform", c_int), ("get_proc_address", CFUNCTYPE(c_void_p, c_char_p)),
                *_members(c_int, "max_texture_size max_draw_buffers max_uniform_block_bytes"),
                ("reserved", c_void_p * 3),
                *_members(c_bool, "caller_restores_state no_float_targets")]


class tsr_webgpu_desc(Structure):
    _fields_ = [("adapter", c_char_p), ("max_buffer_bytes", c_uint64),
                *_members(c_void_p, "instance device"), ("reserved", c_void_p * 2)]


class tsr_device_desc(Structure):
    _fields_ = [("backend", c_char_p), ("gpu", c_int), ("kernels", c_char_p),
                ("gles", tsr_gles_desc), ("webgpu", tsr_webgpu_desc)]


class tsr_device_info(Structure):
    _fields_ = [*_members(c_char_p, "backend name version"), ("is_cpu", c_bool),
                *_members(c_int, "max_texture_size max_array_layers max_draw_buffers "
                                 "max_uniform_block_bytes"),
                ("max_buffer_bytes", c_uint64),
                *_members(c_int, "max_workgroup_invocations max_workgroup_bytes "
                                 "max_storage_buffers"),
                *_members(c_bool, "has_timer has_float_blend has_robust_reset half_only bits_only")]


class tsr_device_peaks(Structure):
    _fields_ = _members(c_double, "gflops gfetches copy_gbs upload_gbs readback_gbs")


class tsr_dim_binding(Structure):
    _fields_ = [("name", c_char_p), ("size", c_int64)]


class tsr_input_shape(Structure):
    _fields_ = [("input", c_char_p), ("shape", tsr_shape)]


class tsr_fixed_input(Structure):
    _fields_ = [("input", c_char_p), ("dtype", c_int), ("shape", tsr_shape), ("data", c_void_p)]


class tsr_progress(Structure):
    _fields_ = _members(c_void_p, "fn user")


class tsr_session_desc(Structure):
    _fields_ = [("precision", c_int),
                *_members(c_bool, "allow_cpu_fallback texture_outputs keep_tensors plan_only "
                                  "time_passes poison"),
                *_members(c_int, "runs_in_flight tune_ms"),
                ("dims", POINTER(tsr_dim_binding)), ("dim_count", c_int),
                ("shapes", POINTER(tsr_input_shape)), ("shape_count", c_int),
                ("fixed", POINTER(tsr_fixed_input)), ("fixed_count", c_int),
                ("extra_outputs", POINTER(c_char_p)), ("extra_output_count", c_int),
                ("progress", tsr_progress), ("prepare_in_steps", c_bool),
                ("optimizer_passes", c_char_p), ("weights", c_int), ("override_shapes", c_bool)]


class tsr_array(Structure):
    _fields_ = [("data", c_void_p), ("count", c_size_t), ("dtype", c_int),
                ("channels_last", c_bool)]


class tsr_texture(Structure):
    _fields_ = [*_members(c_uint32, "id internal_format"),
                *_members(c_int, "width height columns tiles texture_width texture_height")]


class tsr_report(Structure):
    _fields_ = [("backend", c_char_p),
                *_members(c_int, "node_count pass_count program_count cached_programs"),
                ("compile_ms", c_double), ("tuned_layers", c_int), ("tune_ms", c_double),
                ("macs", c_int64),
                *_members(c_uint64, "tensor_bytes live_bytes_bound weight_bytes packed_bytes "
                                    "allocated_bytes"),
                ("gpu_ms", c_double), ("precision", c_int), ("calibrated_error", c_double),
                ("precise_tensors", c_int), ("precise_weights", c_bool)]


class tsr_node_report(Structure):
    _fields_ = [*_members(c_char_p, "name op output backend kernel"), ("candidates", c_int),
                ("shape", tsr_shape), ("macs", c_int64), ("bytes", c_uint64), ("passes", c_int),
                ("draws", c_int64), ("ms", c_double), ("dtype", c_int), ("precision", c_int),
                ("winograd_tile", c_char_p)]


class tsr_candidate_report(Structure):
    _fields_ = [("algorithm", c_char_p), ("estimate", c_double), ("bytes", c_uint64),
                ("live_texels", c_int), ("ms", c_double), ("chosen", c_bool),
                ("winograd_tile", c_char_p)]


class tsr_optimizer_pass_report(Structure):
    _fields_ = [("name", c_char_p), *_members(c_bool, "required on"),
                *_members(c_int, "nodes_before nodes_after")]


# Function types that are parameters.
tsr_device_fn = CFUNCTYPE(None, c_void_p, POINTER(tsr_device_desc), POINTER(tsr_device_info),
                          c_char_p)
tsr_write_fn = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)

SCALARS = {"int": c_int, "bool": c_bool, "size_t": c_size_t, "int64_t": c_int64, "float": c_float,
           "double": c_double, "tsr_status": c_int, "tsr_dtype": c_int,
           "tsr_device_fn": tsr_device_fn, "tsr_write_fn": tsr_write_fn}
STRUCTS = {kind.__name__: kind for kind in Structure.__subclasses__()
           if kind.__module__ == __name__}
