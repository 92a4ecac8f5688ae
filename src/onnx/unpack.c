#include "onnx/reader.h"

#include "base/allocator.h"

#include <string.h>

/* Every block is preceded by its size. Unpacked messages are larger than the file (a node of a
 * few bytes becomes a struct), so a hostile file could ask for much more memory than it has
 * bytes: the heap has a limit. */
typedef union block_header {
    size_t size;
    max_align_t align;
} block_header;

enum { MAX_GROWTH = 32, SLACK = 1 << 20 };

static void *heap_alloc(void *data, size_t size) {
    tsr_onnx_heap *heap = data;
    block_header *block = NULL;
    if (size <= heap->limit - heap->used && size <= SIZE_MAX - sizeof *block)
        block = tsr_malloc(sizeof *block + size);
    if (!block) {
        heap->out_of_memory = true;
        return NULL;
    }
    block->size = size;
    heap->used += size;
    return block + 1;
}

static void heap_free(void *data, void *pointer) {
    if (!pointer)
        return;
    tsr_onnx_heap *heap = data;
    block_header *block = (block_header *)pointer - 1;
    heap->used -= block->size;
    tsr_free(block);
}

/* Descriptors have no names: see onnx.proto. */
static const char *message_name(const ProtobufCMessageDescriptor *type) {
    return type == &tsr__tensor_proto__descriptor     ? "TensorProto"
           : type == &tsr__graph_proto__descriptor    ? "GraphProto"
           : type == &tsr__function_proto__descriptor ? "FunctionProto"
                                                      : "ModelProto";
}

tsr_onnx_range tsr_onnx_range_of(const ProtobufCBinaryData *field) {
    tsr_onnx_range range = {0, 0};
    if (field->len == sizeof range)
        memcpy(&range, field->data, sizeof range);
    return range;
}

bool tsr_onnx_is_lfs_pointer(const unsigned char *bytes, uint64_t size) {
    static const char begin[] = "version https://git-lfs";
    return size >= strlen(begin) && memcmp(bytes, begin, strlen(begin)) == 0;
}

tsr_status tsr_onnx_unpack(tsr_onnx_heap *heap, const ProtobufCMessageDescriptor *type,
                           const unsigned char *file, tsr_onnx_range range, uint64_t max_bytes,
                           ProtobufCMessage **message) {
    size_t size = (size_t)range.size;
    uint64_t limit =
        (uint64_t)size < UINT64_MAX / MAX_GROWTH ? (uint64_t)size * MAX_GROWTH : UINT64_MAX;
    limit = limit < max_bytes ? limit : max_bytes;
    *heap = (tsr_onnx_heap){.allocator = {.alloc = heap_alloc, .free = heap_free}};
    heap->allocator.allocator_data = heap;
    heap->limit = limit < SIZE_MAX - SLACK ? (size_t)limit + SLACK : SIZE_MAX;
    *message = NULL;
    if (size == 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is empty");
    if (tsr_onnx_is_lfs_pointer(file, range.size))
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "this is a pointer of Git LFS, not the file: fetch it with git lfs pull");
    if (size > max_bytes)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "the file has %zu bytes, max_bytes is %llu", size,
                        (unsigned long long)max_bytes);
    tsr_onnx_stripped stripped;
    if (tsr_onnx_strip_raw_data(type, file, range, heap->limit, &stripped))
        *message = protobuf_c_message_unpack(type, &heap->allocator, stripped.size, stripped.bytes);
    tsr_free(stripped.bytes);
    if (*message)
        return TSR_OK;
    if (heap->out_of_memory || stripped.out_of_memory)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                        "no memory to unpack its %zu bytes, for which %zu are allowed", size,
                        heap->limit);
    return tsr_fail(TSR_ERROR_INVALID_MODEL,
                    "not an ONNX file, or a damaged one: its %zu bytes do not parse as %s", size,
                    message_name(type));
}
