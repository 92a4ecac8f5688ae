/* protobuf-c copies what it unpacks, and most of a model is the raw data of its tensors. So it
 * is given a copy of the file without them: a tensor's raw data, a graph in an attribute and a
 * function are replaced by their ranges in the file (tsr_onnx_range), and fields that onnx.proto
 * does not have are left out. A length is written before the content it counts, so it always
 * occupies five bytes. */
#include "onnx/reader.h"

#include "base/allocator.h"

#include <string.h>

/* Fields of TensorProto, AttributeProto and ModelProto. */
enum { RAW_DATA = 9, GRAPH = 6, FUNCTIONS = 25 };
enum { LENGTH_BYTES = 5, FIRST_CAPACITY = 4096 };
enum { VARINT = 0, FIXED64 = 1, LENGTH_DELIMITED = 2, FIXED32 = 5 }; /* wire types */

typedef struct writer {
    const uint8_t *file; /* its first byte: ranges are relative to it */
    uint8_t *bytes;
    size_t size, capacity, limit;
    bool out_of_memory;
} writer;

static bool reserve(writer *w, size_t size) {
    if (size <= w->capacity - w->size)
        return true;
    size_t capacity = w->capacity ? w->capacity : FIRST_CAPACITY;
    while (capacity - w->size < size && capacity <= w->limit / 2)
        capacity *= 2;
    uint8_t *bytes = capacity - w->size < size ? NULL : tsr_realloc(w->bytes, capacity);
    if (!bytes) {
        w->out_of_memory = true;
        return false;
    }
    w->bytes = bytes;
    w->capacity = capacity;
    return true;
}

static bool put(writer *w, const void *bytes, size_t size) {
    if (!reserve(w, size))
        return false;
    if (size)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
    return true;
}

static void write_length(uint8_t *bytes, size_t length) {
    for (int i = 0; i < LENGTH_BYTES; i++)
        bytes[i] = (uint8_t)((length >> 7 * i & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

/* Bytes that the varint occupies; 0 if it is truncated. */
static size_t read_varint(const uint8_t *bytes, size_t size, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < size && i < 10; i++) {
        *number |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
        if (!(bytes[i] & 0x80))
            return i + 1;
    }
    return 0;
}

/* Sizes in bytes of the parts of a field: its key, key and length (head), content. */
typedef struct field {
    uint32_t number;
    int wire;
    size_t key, head, content;
} field;

static bool read_field(const uint8_t *bytes, size_t size, field *f) {
    uint64_t key, number;
    f->key = read_varint(bytes, size, &key);
    if (!f->key || key >> 3 > UINT32_MAX)
        return false;
    f->number = (uint32_t)(key >> 3);
    f->wire = (int)(key & 7);
    size_t left = size - f->key, taken = 0;
    if (f->wire == VARINT || f->wire == LENGTH_DELIMITED) {
        taken = read_varint(bytes + f->key, left, &number);
        if (!taken)
            return false;
    }
    f->head = f->key + (f->wire == LENGTH_DELIMITED ? taken : 0);
    uint64_t content = f->wire == VARINT             ? taken
                       : f->wire == LENGTH_DELIMITED ? number
                       : f->wire == FIXED64          ? 8
                                                     : 4;
    f->content = (size_t)content;
    return (f->wire <= LENGTH_DELIMITED || f->wire == FIXED32) && content <= size - f->head;
}

static bool put_range(writer *w, const uint8_t *bytes, const field *f) {
    tsr_onnx_range range = {(uint64_t)(bytes + f->head - w->file), f->content};
    const uint8_t length = sizeof range;
    return put(w, bytes, f->key) && put(w, &length, 1) && put(w, &range, sizeof range);
}

static bool put_message(writer *w, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                        size_t size);

static bool put_nested(writer *w, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                       const field *f) {
    if (!put(w, bytes, f->key) || !reserve(w, LENGTH_BYTES))
        return false;
    size_t length_at = w->size;
    w->size += LENGTH_BYTES;
    if (!put_message(w, type, bytes + f->head, f->content))
        return false;
    write_length(w->bytes + length_at, w->size - length_at - LENGTH_BYTES);
    return true;
}

static bool is_range(const ProtobufCMessageDescriptor *type, uint32_t number) {
    return (type == &tsr__tensor_proto__descriptor && number == RAW_DATA) ||
           (type == &tsr__attribute_proto__descriptor && number == GRAPH) ||
           (type == &tsr__model_proto__descriptor && number == FUNCTIONS);
}

/* No message type of onnx.proto contains itself: the recursion ends. */
static bool put_message(writer *w, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                        size_t size) {
    field f;
    for (size_t at = 0; at < size; at += f.head + f.content) {
        if (!read_field(bytes + at, size - at, &f))
            return false;
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(type, f.number);
        bool done = true;
        if (known && f.wire == LENGTH_DELIMITED && known->type == PROTOBUF_C_TYPE_MESSAGE)
            done = put_nested(w, known->descriptor, bytes + at, &f);
        else if (f.wire == LENGTH_DELIMITED && is_range(type, f.number))
            done = put_range(w, bytes + at, &f);
        else if (known)
            done = put(w, bytes + at, f.head + f.content);
        if (!done)
            return false;
    }
    return true;
}

bool tsr_onnx_strip_raw_data(const ProtobufCMessageDescriptor *type, const unsigned char *file,
                             tsr_onnx_range range, size_t limit, tsr_onnx_stripped *stripped) {
    writer w = {.file = file, .limit = limit};
    bool whole = put_message(&w, type, file + range.offset, (size_t)range.size);
    *stripped = (tsr_onnx_stripped){w.bytes, w.size, w.out_of_memory};
    return whole;
}
