/* Element types. A graph and the CPU hold elements of floating types as floats, integers and
 * booleans as int64_t; uint64 as the int64_t of the same bits. */
#ifndef TSR_BASE_DTYPE_H
#define TSR_BASE_DTYPE_H

#include "tessera.h"

#define TSR_DTYPE_ONE(name, text, bytes) +1
enum { TSR_DTYPE_COUNT = 0 TSR_DTYPE_MAP(TSR_DTYPE_ONE) };
#undef TSR_DTYPE_ONE

/* Every integer up to here is a float, or a half float. */
enum { TSR_EXACT_FLOATS = 1 << 24, TSR_EXACT_HALVES = 1 << 11 };

bool tsr_dtype_is_float(tsr_dtype dtype);
/* float16 or bfloat16? */
bool tsr_dtype_is_half(tsr_dtype dtype);
/* Has an integer type no negative numbers? */
bool tsr_dtype_is_unsigned(tsr_dtype dtype);
/* int8, uint8, bool: what a 16-bit float holds exactly. */
bool tsr_dtype_is_byte(tsr_dtype dtype);

/* The least and the largest number of an integer type; of uint64 INT64_MAX stands for the latter.
 */
int64_t tsr_dtype_low(tsr_dtype dtype);
int64_t tsr_dtype_high(tsr_dtype dtype);

/* The number of ONNX's TensorProto.DataType. */
int tsr_dtype_to_onnx(tsr_dtype dtype);
/* False if there is no such type here. */
bool tsr_dtype_from_onnx(int64_t number, tsr_dtype *dtype);

/* Bytes of an element as it is held. */
size_t tsr_stored_size(tsr_dtype dtype);
/* From memory, aligned or not, in the type's own format, to elements as they are held. */
void tsr_dtype_load(tsr_dtype dtype, const void *bytes, size_t count, void *stored);
/* The reverse of it; integers are in the range of their type. */
void tsr_dtype_store(tsr_dtype dtype, const void *stored, size_t count, void *bytes);

/* Elements in a file, where two of 4 bits share a byte, the first in its low bits: how many bytes
 * they have (UINT64_MAX: too many), and to and from elements as they are held. */
bool tsr_dtype_is_packed(tsr_dtype dtype);
uint64_t tsr_dtype_file_bytes(tsr_dtype dtype, uint64_t count);
void tsr_dtype_load_file(tsr_dtype dtype, const void *bytes, size_t count, void *stored);
void tsr_dtype_store_file(tsr_dtype dtype, const void *stored, size_t count, void *bytes);

/* A computed integer in the range of its type: it wraps around; of bool whether it is not 0. */
int64_t tsr_dtype_wrap(tsr_dtype dtype, int64_t value);
/* To an integer type, toward zero, limited to its range; NaN becomes 0. */
int64_t tsr_dtype_int_of_float(tsr_dtype dtype, float x);
double tsr_dtype_number(tsr_dtype dtype, int64_t value);
/* What has the order of the type's numbers; its own inverse. */
int64_t tsr_dtype_order(tsr_dtype dtype, int64_t value);

#endif
