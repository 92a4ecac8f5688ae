#include "onnx/reader.h"

#include "base/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "ONNX data is little-endian and is copied as it is"
#endif

/* ---- element types and shapes ---- */

/* Of ONNX's TensorProto.DataType, those that are not supported. */
static const struct {
    int32_t type;
    const char *name;
} refused_types[] = {
    {8, "string"},          {14, "complex64"},  {15, "complex128"},     {17, "float8e4m3fn"},
    {18, "float8e4m3fnuz"}, {19, "float8e5m2"}, {20, "float8e5m2fnuz"}, {23, "float4e2m1"},
    {24, "float8e8m0"},     {25, "uint2"},      {26, "int2"},
};

const char *tsr_onnx_refused_type(int64_t type) {
    enum { COUNT = sizeof refused_types / sizeof *refused_types };
    for (size_t i = 0; i < COUNT; i++)
        if (refused_types[i].type == type)
            return refused_types[i].name;
    return type > refused_types[COUNT - 1].type ? "newer than those that are known" : NULL;
}

tsr_status tsr_onnx_dtype(tsr_reader *reader, int32_t type, const char *name, tsr_dtype *dtype) {
    const char *refused = tsr_onnx_refused_type(type);
    if (refused)
        return tsr_onnx_note_lack(reader, TSR_LACKS_TYPE, "", refused, name);
    return tsr_dtype_from_onnx(type, dtype)
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_MODEL, "element type %" PRId32 " does not exist", type);
}

static tsr_status tensor_shape(const Tsr__TensorProto *tensor, tsr_shape *shape) {
    *shape = tsr_shape_make((int)tensor->n_dims, tensor->dims);
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 0)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "dimension %d is %" PRId64, i, shape->dim[i]);
    if (tsr_shape_count(shape) < 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the number of elements of %s overflows",
                        tsr_shape_text(shape));
    return TSR_OK;
}

/* ---- where the elements are ---- */

typedef enum data_source { RAW, TYPED, EXTERNAL } data_source;

static bool is_in_uint64_data(tsr_dtype dtype) {
    return dtype == TSR_DTYPE_U64 || dtype == TSR_DTYPE_U32;
}

/* The number of elements in the field for the dtype; *others: of those in any other typed field. */
static size_t typed_count(const Tsr__TensorProto *tensor, tsr_dtype dtype, size_t *others) {
    size_t all = tensor->n_float_data + tensor->n_double_data + tensor->n_int64_data +
                 tensor->n_int32_data + tensor->n_uint64_data;
    size_t matching = dtype == TSR_DTYPE_F32     ? tensor->n_float_data
                      : dtype == TSR_DTYPE_F64   ? tensor->n_double_data
                      : dtype == TSR_DTYPE_I64   ? tensor->n_int64_data
                      : is_in_uint64_data(dtype) ? tensor->n_uint64_data
                                                 : tensor->n_int32_data;
    *others = all - matching;
    return matching;
}

/* Finds the data and compares its size with the shape, before memory is allocated for it. */
static tsr_status find_data(const Tsr__TensorProto *tensor, tsr_dtype dtype, int64_t count,
                            data_source *source) {
    size_t others, typed = typed_count(tensor, dtype, &others),
                   raw = tsr_onnx_range_of(&tensor->raw_data).size;
    bool external = tensor->has_data_location &&
                    tensor->data_location == TSR__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    if (others)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%zu elements are in a field of another type",
                        others);
    if ((external && (raw || typed)) || (raw && typed))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "its data is given twice");
    *source = external ? EXTERNAL : raw ? RAW : TYPED;
    if (*source == RAW && raw != tsr_dtype_file_bytes(dtype, (uint64_t)count))
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "%zu bytes of data do not make %" PRId64 " elements of type %s", raw, count,
                        tsr_dtype_name(dtype));
    uint64_t entries =
        tsr_dtype_is_packed(dtype) ? tsr_dtype_file_bytes(dtype, (uint64_t)count) : (uint64_t)count;
    if (*source == TYPED && typed != entries)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it has %zu elements of data instead of %" PRId64,
                        typed, count);
    return TSR_OK;
}

/* ---- conversion to elements as they are held ---- */

/* int32_data also holds smaller types, of floats their bits: elements outside their range are
 * refused. */
static tsr_status load_int32_data(const Tsr__TensorProto *tensor, tsr_dtype dtype, void *data) {
    bool is_float = tsr_dtype_is_float(dtype);
    int64_t low = is_float ? 0 : tsr_dtype_low(dtype),
            high = is_float ? UINT16_MAX : tsr_dtype_high(dtype);
    for (size_t i = 0; i < tensor->n_int32_data; i++) {
        int32_t x = tensor->int32_data[i];
        uint16_t bits = (uint16_t)x;
        if (x < low || x > high)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "element %zu, %" PRId32 ", is no %s", i, x,
                            tsr_dtype_name(dtype));
        if (is_float)
            tsr_dtype_load(dtype, &bits, 1, (float *)data + i);
        else
            ((int64_t *)data)[i] = x;
    }
    return TSR_OK;
}

/* int32_data holds elements of 4 bits as bytes of two. */
static tsr_status load_packed_data(const Tsr__TensorProto *tensor, tsr_dtype dtype, size_t count,
                                   int64_t *data) {
    for (size_t i = 0; i < tensor->n_int32_data; i++) {
        int32_t x = tensor->int32_data[i];
        uint8_t byte = (uint8_t)x;
        if (x < INT8_MIN || x > UINT8_MAX)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "entry %zu, %" PRId32 ", is no byte", i, x);
        tsr_dtype_load_file(dtype, &byte, count - 2 * i < 2 ? 1 : 2, data + 2 * i);
    }
    return TSR_OK;
}

/* uint64_data also holds uint32. */
static tsr_status load_uint64_data(const Tsr__TensorProto *tensor, tsr_dtype dtype, void *data) {
    for (size_t i = 0; dtype == TSR_DTYPE_U32 && i < tensor->n_uint64_data; i++)
        if (tensor->uint64_data[i] > UINT32_MAX)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "element %zu, %" PRIu64 ", is no uint32", i,
                            tensor->uint64_data[i]);
    tsr_dtype_load(TSR_DTYPE_U64, tensor->uint64_data, tensor->n_uint64_data, data);
    return TSR_OK;
}

static tsr_status load_typed(const Tsr__TensorProto *tensor, tsr_dtype dtype, size_t count,
                             void *data) {
    if (dtype == TSR_DTYPE_F32)
        tsr_dtype_load(dtype, tensor->float_data, tensor->n_float_data, data);
    else if (dtype == TSR_DTYPE_F64)
        tsr_dtype_load(dtype, tensor->double_data, tensor->n_double_data, data);
    else if (dtype == TSR_DTYPE_I64)
        tsr_dtype_load(dtype, tensor->int64_data, tensor->n_int64_data, data);
    else if (tsr_dtype_is_packed(dtype))
        return load_packed_data(tensor, dtype, count, data);
    else if (is_in_uint64_data(dtype))
        return load_uint64_data(tensor, dtype, data);
    else
        return load_int32_data(tensor, dtype, data);
    return TSR_OK;
}

/* What the caller's functions read is converted in pieces: a large file is not in memory twice. */
static tsr_status load_external(tsr_reader *reader, tsr_onnx_external *external, tsr_dtype dtype,
                                size_t count, void *data) {
    unsigned char piece[64 * 1024];
    size_t size = tsr_dtype_size(dtype), stored_size = tsr_stored_size(dtype);
    if (external->bytes)
        tsr_dtype_load_file(dtype, external->bytes, count, data);
    for (size_t done = 0; done < count && !external->bytes;) {
        size_t n = sizeof piece / size < count - done ? sizeof piece / size : count - done;
        TSR_TRY(tsr_onnx_external_read(reader, external, piece,
                                       (size_t)tsr_dtype_file_bytes(dtype, n)));
        tsr_dtype_load_file(dtype, piece, n, (char *)data + done * stored_size);
        done += n;
    }
    return TSR_OK;
}

/* ---- tensors ---- */

/* Large float tensors of at least two axes, which are weights, stay in the file. Where many tensors
 * may have the same bytes, in external data, only if these can be read as they are. */
enum { MIN_KEPT_BYTES = 64 * 1024, MIN_KEPT_RANK = 2 };

static bool can_stay(const tsr_reader *reader, tsr_dtype dtype, const tsr_shape *shape,
                     const unsigned char *bytes, uint64_t size, size_t alignment) {
    return tsr_maps_find(reader->maps, bytes) && dtype == TSR_DTYPE_F32 && size >= MIN_KEPT_BYTES &&
           shape->rank >= MIN_KEPT_RANK && (uintptr_t)bytes % alignment == 0;
}

/* Leaves large float16 constants of a file that is in memory to tsr_graph_widen(), if it can. */
static bool leave_narrow(tsr_reader *reader, tsr_dtype dtype, const unsigned char *bytes,
                         size_t count, float *elements) {
    tsr_graph *graph = reader->graph;
    const tsr_map *map = tsr_maps_find(reader->maps, bytes);
    if (!map || !map->in_memory || dtype != TSR_DTYPE_F16 || count < MIN_KEPT_BYTES / 2)
        return false;
    tsr_narrow *narrow = TSR_NEW(graph->arena, 1, tsr_narrow);
    if (!narrow)
        return false;
    *narrow = (tsr_narrow){graph->narrow, count, bytes, elements};
    graph->narrow = narrow;
    return true;
}

static tsr_status find_external(tsr_reader *reader, const Tsr__TensorProto *tensor, tsr_dtype dtype,
                                const tsr_shape *shape, tsr_onnx_external *external,
                                const void **data) {
    uint64_t count = (uint64_t)tsr_shape_count(shape), size = tsr_dtype_file_bytes(dtype, count);
    if (count > SIZE_MAX / 8)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%" PRIu64 " elements do not fit", count);
    TSR_TRY(tsr_onnx_external_find(reader, tensor, size, external));
    if (can_stay(reader, dtype, shape, external->bytes, size, _Alignof(float))) {
        *data = external->bytes;
        return TSR_OK;
    }
    return tsr_onnx_external_count_copy(reader, external, size);
}

static tsr_status copy_elements(tsr_reader *reader, const Tsr__TensorProto *tensor, tsr_dtype dtype,
                                data_source source, size_t count, tsr_onnx_external *external,
                                const void **data) {
    TSR_TRY(tsr_onnx_count_repeated(reader, (uint64_t)count * tsr_stored_size(dtype)));
    void *elements = tsr_arena_alloc(reader->graph->arena, count, tsr_stored_size(dtype));
    *data = elements;
    if (!elements)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for its %zu elements", count);
    if (source == EXTERNAL)
        return load_external(reader, external, dtype, count, elements);
    if (source == TYPED)
        return load_typed(tensor, dtype, count, elements);
    const unsigned char *bytes = reader->bytes + tsr_onnx_range_of(&tensor->raw_data).offset;
    if (!leave_narrow(reader, dtype, bytes, count, elements))
        tsr_dtype_load_file(dtype, bytes, count, elements);
    return TSR_OK;
}

static tsr_status decode(tsr_reader *reader, const Tsr__TensorProto *tensor, const char *name,
                         tsr_dtype *dtype, tsr_shape *shape, const void **data) {
    TSR_TRY(tsr_onnx_dtype(reader, tensor->data_type, name, dtype));
    TSR_TRY(tensor_shape(tensor, shape));
    int64_t count = tsr_shape_count(shape);
    data_source source = RAW;
    TSR_TRY(find_data(tensor, *dtype, count, &source));
    tsr_onnx_range raw = tsr_onnx_range_of(&tensor->raw_data);
    const unsigned char *bytes = source == RAW ? reader->bytes + raw.offset : NULL;
    tsr_onnx_external external = {0};
    *data = NULL;
    if (source == EXTERNAL)
        TSR_TRY(find_external(reader, tensor, *dtype, shape, &external, data));
    else if (can_stay(reader, *dtype, shape, bytes, raw.size, _Alignof(tsr_unaligned_float)))
        *data = bytes;
    return *data ? TSR_OK
                 : copy_elements(reader, tensor, *dtype, source, (size_t)count, &external, data);
}

/* Notes what is not supported of a tensor; *any: is there something? */
static tsr_status note_lacks(tsr_reader *reader, const Tsr__TensorProto *tensor, const char *name,
                             bool *any) {
    char rank[32];
    bool deep = tensor->n_dims > TSR_MAX_RANK;
    const char *refused = tsr_onnx_refused_type(tensor->data_type);
    *any = refused || deep || tensor->has_segment;
    snprintf(rank, sizeof rank, "rank %zu", tensor->n_dims);
    if (refused)
        TSR_TRY(tsr_onnx_note_lack(reader, TSR_LACKS_TYPE, "", refused, name));
    if (deep)
        TSR_TRY(tsr_onnx_note_lack(reader, TSR_LACKS_OTHER, "", rank, name));
    return tensor->has_segment
               ? tsr_onnx_note_lack(reader, TSR_LACKS_OTHER, "", "stored in segments", name)
               : TSR_OK;
}

tsr_status tsr_onnx_add_nothing(tsr_reader *reader, const char *name, int *value) {
    static const float none;
    *value =
        tsr_graph_add_constant(reader->graph, name, TSR_DTYPE_F32, &(tsr_shape){1, {0}}, &none);
    return *value == TSR_NONE ? tsr_onnx_out_of_memory() : TSR_OK;
}

tsr_status tsr_onnx_add_tensor(tsr_reader *reader, const Tsr__TensorProto *tensor, const char *name,
                               int *value) {
    tsr_dtype dtype = TSR_DTYPE_F32;
    tsr_shape shape = {0};
    const void *data = NULL;
    bool lacks;
    TSR_TRY(note_lacks(reader, tensor, name, &lacks));
    if (lacks)
        return tsr_onnx_add_nothing(reader, name, value);
    TSR_TRY(tsr_fail_context(decode(reader, tensor, name, &dtype, &shape, &data), "tensor \"%s\"",
                             name));
    *value = tsr_graph_add_constant(reader->graph, name, dtype, &shape, data);
    return *value == TSR_NONE ? tsr_onnx_out_of_memory() : TSR_OK;
}
