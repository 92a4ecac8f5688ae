#include "base/dtype.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

/* `onnx`: the number of TensorProto.DataType. */
static const struct {
    int onnx;
    bool is_float;
    int64_t low, high;
} infos[TSR_DTYPE_COUNT] = {
    [TSR_DTYPE_F32] = {1, true, 0, 0},
    [TSR_DTYPE_F16] = {10, true, 0, 0},
    [TSR_DTYPE_BF16] = {16, true, 0, 0},
    [TSR_DTYPE_F64] = {11, true, 0, 0},
    [TSR_DTYPE_I64] = {7, false, INT64_MIN, INT64_MAX},
    [TSR_DTYPE_I32] = {6, false, INT32_MIN, INT32_MAX},
    [TSR_DTYPE_I16] = {5, false, INT16_MIN, INT16_MAX},
    [TSR_DTYPE_I8] = {3, false, INT8_MIN, INT8_MAX},
    [TSR_DTYPE_U64] = {13, false, 0, INT64_MAX},
    [TSR_DTYPE_U32] = {12, false, 0, UINT32_MAX},
    [TSR_DTYPE_U16] = {4, false, 0, UINT16_MAX},
    [TSR_DTYPE_U8] = {2, false, 0, UINT8_MAX},
    [TSR_DTYPE_BOOL] = {9, false, 0, 1},
    [TSR_DTYPE_I4] = {22, false, -8, 7},
    [TSR_DTYPE_U4] = {21, false, 0, 15},
};

const char *tsr_dtype_name(tsr_dtype dtype) {
    switch (dtype) {
#define NAME_CASE(name, text, bytes)                                                               \
    case TSR_DTYPE_##name:                                                                         \
        return text;
        TSR_DTYPE_MAP(NAME_CASE)
#undef NAME_CASE
    }
    return "unknown type";
}

size_t tsr_dtype_size(tsr_dtype dtype) {
    switch (dtype) {
#define SIZE_CASE(name, text, bytes)                                                               \
    case TSR_DTYPE_##name:                                                                         \
        return bytes;
        TSR_DTYPE_MAP(SIZE_CASE)
#undef SIZE_CASE
    }
    return 0;
}

bool tsr_dtype_is_float(tsr_dtype dtype) {
    return infos[dtype].is_float;
}

bool tsr_dtype_is_half(tsr_dtype dtype) {
    return dtype == TSR_DTYPE_F16 || dtype == TSR_DTYPE_BF16;
}

bool tsr_dtype_is_unsigned(tsr_dtype dtype) {
    return !infos[dtype].is_float && dtype != TSR_DTYPE_BOOL && infos[dtype].low == 0;
}

bool tsr_dtype_is_byte(tsr_dtype dtype) {
    return !infos[dtype].is_float && tsr_dtype_size(dtype) == 1;
}

int64_t tsr_dtype_low(tsr_dtype dtype) {
    return infos[dtype].low;
}

int64_t tsr_dtype_high(tsr_dtype dtype) {
    return infos[dtype].high;
}

int tsr_dtype_to_onnx(tsr_dtype dtype) {
    return infos[dtype].onnx;
}

bool tsr_dtype_from_onnx(int64_t number, tsr_dtype *dtype) {
    for (int i = 0; i < TSR_DTYPE_COUNT; i++)
        if (infos[i].onnx == number) {
            *dtype = (tsr_dtype)i;
            return true;
        }
    return false;
}

size_t tsr_stored_size(tsr_dtype dtype) {
    return tsr_dtype_is_float(dtype) ? sizeof(float) : sizeof(int64_t);
}

#define LOAD(from, to, expression)                                                                 \
    for (size_t i = 0; i < count; i++) {                                                           \
        from x;                                                                                    \
        memcpy(&x, (const char *)bytes + i * sizeof x, sizeof x);                                  \
        ((to *)stored)[i] = (expression);                                                          \
    }

void tsr_dtype_load(tsr_dtype dtype, const void *bytes, size_t count, void *stored) {
    switch (dtype) {
    case TSR_DTYPE_F32:
        LOAD(float, float, x) break;
    case TSR_DTYPE_F16:
        LOAD(uint16_t, float, tsr_half_to_float(x)) break;
    case TSR_DTYPE_BF16:
        LOAD(uint16_t, float, tsr_bfloat16_to_float(x)) break;
    case TSR_DTYPE_F64:
        LOAD(double, float, (float)x) break;
    case TSR_DTYPE_I64:
        LOAD(int64_t, int64_t, x) break;
    case TSR_DTYPE_I32:
        LOAD(int32_t, int64_t, x) break;
    case TSR_DTYPE_I16:
        LOAD(int16_t, int64_t, x) break;
    case TSR_DTYPE_I8:
    case TSR_DTYPE_I4:
        LOAD(int8_t, int64_t, x) break;
    case TSR_DTYPE_U64:
        LOAD(uint64_t, int64_t, (int64_t)x) break;
    case TSR_DTYPE_U32:
        LOAD(uint32_t, int64_t, x) break;
    case TSR_DTYPE_U16:
        LOAD(uint16_t, int64_t, x) break;
    case TSR_DTYPE_U8:
    case TSR_DTYPE_U4:
        LOAD(uint8_t, int64_t, x) break;
    case TSR_DTYPE_BOOL:
        LOAD(uint8_t, int64_t, x != 0) break;
    }
}

#define STORE(from, to, expression)                                                                \
    for (size_t i = 0; i < count; i++) {                                                           \
        const from x = ((const from *)stored)[i];                                                  \
        const to y = (to)(expression);                                                             \
        memcpy((char *)bytes + i * sizeof y, &y, sizeof y);                                        \
    }

void tsr_dtype_store(tsr_dtype dtype, const void *stored, size_t count, void *bytes) {
    switch (dtype) {
    case TSR_DTYPE_F32:
        STORE(float, float, x) break;
    case TSR_DTYPE_F16:
        STORE(float, uint16_t, tsr_float_to_half(x)) break;
    case TSR_DTYPE_BF16:
        STORE(float, uint16_t, tsr_float_to_bfloat16(x)) break;
    case TSR_DTYPE_F64:
        STORE(float, double, x) break;
    default: /* two's complement */
        switch (tsr_dtype_size(dtype)) {
        case 8:
            STORE(int64_t, int64_t, x) break;
        case 4:
            STORE(int64_t, uint32_t, x) break;
        case 2:
            STORE(int64_t, uint16_t, x) break;
        case 1:
            STORE(int64_t, uint8_t, x) break;
        }
    }
}

bool tsr_dtype_is_packed(tsr_dtype dtype) {
    return dtype == TSR_DTYPE_I4 || dtype == TSR_DTYPE_U4;
}

uint64_t tsr_dtype_file_bytes(tsr_dtype dtype, uint64_t count) {
    if (tsr_dtype_is_packed(dtype))
        return count / 2 + count % 2;
    return count > UINT64_MAX / 8 ? UINT64_MAX : count * tsr_dtype_size(dtype);
}

void tsr_dtype_load_file(tsr_dtype dtype, const void *bytes, size_t count, void *stored) {
    if (!tsr_dtype_is_packed(dtype)) {
        tsr_dtype_load(dtype, bytes, count, stored);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ((int64_t *)stored)[i] =
            tsr_dtype_wrap(dtype, ((const uint8_t *)bytes)[i / 2] >> (i % 2 ? 4 : 0));
}

void tsr_dtype_store_file(tsr_dtype dtype, const void *stored, size_t count, void *bytes) {
    if (!tsr_dtype_is_packed(dtype)) {
        tsr_dtype_store(dtype, stored, count, bytes);
        return;
    }
    const int64_t *from = stored;
    for (size_t i = 0; i < count; i += 2) {
        int64_t low = from[i] & 15, high = i + 1 < count ? from[i + 1] & 15 : 0;
        ((uint8_t *)bytes)[i / 2] = (uint8_t)(low | high << 4);
    }
}

int64_t tsr_dtype_wrap(tsr_dtype dtype, int64_t value) {
    switch (dtype) {
    case TSR_DTYPE_I32:
        return (int32_t)value;
    case TSR_DTYPE_I16:
        return (int16_t)value;
    case TSR_DTYPE_I8:
        return (int8_t)value;
    case TSR_DTYPE_U32:
        return (uint32_t)value;
    case TSR_DTYPE_U16:
        return (uint16_t)value;
    case TSR_DTYPE_U8:
        return (uint8_t)value;
    case TSR_DTYPE_BOOL:
        return value != 0;
    case TSR_DTYPE_I4:
        return ((value & 15) ^ 8) - 8;
    case TSR_DTYPE_U4:
        return value & 15;
    default:
        return value;
    }
}

int64_t tsr_dtype_int_of_float(tsr_dtype dtype, float x) {
    if (dtype == TSR_DTYPE_BOOL)
        return x != 0;
    if (isnan(x))
        return 0;
    if (dtype == TSR_DTYPE_U64 && x >= 0x1p63f)
        return x >= 0x1p64f ? -1 : (int64_t)(uint64_t)x;
    if ((double)x <= (double)infos[dtype].low)
        return infos[dtype].low;
    if ((double)x >= (double)infos[dtype].high)
        return infos[dtype].high;
    return (int64_t)x;
}

double tsr_dtype_number(tsr_dtype dtype, int64_t value) {
    return dtype == TSR_DTYPE_U64 ? (double)(uint64_t)value : (double)value;
}

int64_t tsr_dtype_order(tsr_dtype dtype, int64_t value) {
    return dtype == TSR_DTYPE_U64 ? value ^ INT64_MIN : value;
}
