/* Part of tessera.h, which includes it and has the rules: statuses and messages, memory, progress,
 * the cache, shapes and types of tensors. */
#ifndef TESSERA_TYPES_H
#define TESSERA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TSR_SHARED) && defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#else
#define TSR_API
#endif

/* ---- status ---------------------------------------------------------------------------------- */

#define TSR_STATUS_MAP(X)                                                                          \
    X(OK, "success")                                                                               \
    X(NOT_READY, "the run has not finished yet")                                                   \
    X(ERROR_INVALID_ARGUMENT, "invalid argument")                                                  \
    X(ERROR_IO, "a file could not be read or written")                                             \
    X(ERROR_INVALID_MODEL, "the model is malformed")                                               \
    X(ERROR_UNSUPPORTED, "the model needs something that is not supported")                        \
    X(ERROR_SHAPE, "shapes do not fit")                                                            \
    X(ERROR_OUT_OF_MEMORY, "not enough memory")                                                    \
    X(ERROR_LIMIT, "a limit of the device is exceeded")                                            \
    X(ERROR_NO_DEVICE, "no such device here")                                                      \
    X(ERROR_DEVICE, "the device or its driver failed")                                             \
    X(ERROR_DEVICE_LOST, "the device or its context was lost")                                     \
    X(ERROR_CANCELLED, "the caller cancelled")

typedef enum tsr_status {
#define TSR_STATUS_ENUM(name, text) TSR_##name,
    TSR_STATUS_MAP(TSR_STATUS_ENUM)
#undef TSR_STATUS_ENUM
} tsr_status;

/* "OK", "INVALID_MODEL", ... and the matching sentence. Never NULL, for any int. */
TSR_API const char *tsr_status_name(tsr_status status);
TSR_API const char *tsr_status_text(tsr_status status);

/* The full message of this thread's latest failed call; "" if there was none. One line, as of
 * tsr_escape(). Valid until the next call into Tessera on this thread. */
TSR_API const char *tsr_last_error(void);
/* Copies text, which a model may have chosen, for a terminal or a log: characters that control one
 * or are not seen are written as \n, \t, \x1b or \u202e, bytes that are not UTF-8 as \xff. At most
 * size bytes with the NUL, where no character or escape is cut. Returns to. */
TSR_API char *tsr_escape(const char *text, char *to, size_t size);

#if defined(__GNUC__)
#define TSR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TSR_PRINTF(fmt, args)
#endif

/* Sets this thread's message and returns status: for the functions of custom operators, to report
 * why they fail. */
TSR_API tsr_status tsr_fail(tsr_status status, const char *format, ...) TSR_PRINTF(2, 3);

/* Takes `length` bytes of what a call writes; false: they could not be stored. */
typedef bool (*tsr_write_fn)(void *user, const char *bytes, size_t length);

typedef enum tsr_log_level {
    TSR_LOG_ERROR,
    TSR_LOG_WARN,
    TSR_LOG_INFO,
    TSR_LOG_DEBUG
} tsr_log_level;

/* Receives messages of every device, model and session of the process. Called on the thread that
 * logs; must not call into Tessera. NULL (the default) discards messages. Set before threads start.
 */
typedef void (*tsr_log_fn)(void *user, tsr_log_level level, const char *message);
TSR_API void tsr_set_log(tsr_log_fn fn, void *user);

/* Memory from the caller, for the whole library: as malloc(), realloc() and free() of the C
 * library, with the same alignment, none of them NULL. Called on every thread that calls Tessera,
 * with its user pointer; must not call Tessera. Drivers, and the C library itself, do not ask it.
 */
typedef struct tsr_allocator {
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *old, size_t size); /* old: may be NULL */
    void (*release)(void *user, void *old);                  /* old: never NULL */
    void *user;
} tsr_allocator;

/* The struct is copied; NULL: the C library's functions, which are the default. To be set before
 * anything else of Tessera exists, and before threads start. TSR_ERROR_INVALID_ARGUMENT if one of
 * its functions is NULL. */
TSR_API tsr_status tsr_set_allocator(const tsr_allocator *allocator);

/* What a call that may take long is doing: "reading weights", "measuring" (see
 * tsr_session_desc.tune_ms), "compiling", "packing weights", and which fraction of it is done, 0 to
 * 1, never less than before in one call. Called on the thread that made the call, many times; must
 * neither call into Tessera nor use GL: its context and state are Tessera's then. Returning false
 * cancels: the call fails with TSR_ERROR_CANCELLED, soon but not at once, and leaves nothing
 * behind. */
typedef struct tsr_progress {
    bool (*fn)(void *user, const char *what, double fraction); /* NULL: nobody is told */
    void *user;
} tsr_progress;

/* The folder of the cache, for the whole process: made when something is stored, if need be;
 * several processes may share it. path: copied; NULL (the default):
 * ${XDG_CACHE_HOME:-~/.cache}/tessera; "": there is no cache. The environment variable
 * TSR_CACHE=off disables it in any case. Set before devices are created and threads start. A folder
 * of another user's is not used, nor links and files of theirs in it.
 * Drivers may have caches of their own: Mesa's ends the process (SIGBUS) where its disk is full;
 * MESA_SHADER_CACHE_DIR moves it, MESA_SHADER_CACHE_DISABLE=true switches it off, and compiled
 * programs of gles with it.
 * TSR_ERROR_INVALID_ARGUMENT if the path is too long for the system. */
TSR_API tsr_status tsr_set_cache_folder(const char *path);

/* ---- tensors --------------------------------------------------------------------------------- */

#define TSR_MAX_RANK 8

/* rank 0 is a scalar. A dimension of -1 is not known yet; rank -1 means not even the rank is. */
typedef struct tsr_shape {
    int rank;
    int64_t dim[TSR_MAX_RANK];
} tsr_shape;

#define TSR_DTYPE_MAP(X)                                                                           \
    X(F32, "float32", 4)                                                                           \
    X(F16, "float16", 2)                                                                           \
    X(BF16, "bfloat16", 2)                                                                         \
    X(F64, "float64", 8)                                                                           \
    X(I64, "int64", 8)                                                                             \
    X(I32, "int32", 4)                                                                             \
    X(I16, "int16", 2)                                                                             \
    X(I8, "int8", 1)                                                                               \
    X(U64, "uint64", 8)                                                                            \
    X(U32, "uint32", 4)                                                                            \
    X(U16, "uint16", 2)                                                                            \
    X(U8, "uint8", 1)                                                                              \
    X(BOOL, "bool", 1)                                                                             \
    X(I4, "int4", 1) /* in memory an element has a byte; in files two share one */                 \
    X(U4, "uint4", 1)

typedef enum tsr_dtype {
#define TSR_DTYPE_ENUM(name, text, bytes) TSR_DTYPE_##name,
    TSR_DTYPE_MAP(TSR_DTYPE_ENUM)
#undef TSR_DTYPE_ENUM
} tsr_dtype;

TSR_API const char *tsr_dtype_name(tsr_dtype dtype);
TSR_API size_t tsr_dtype_size(tsr_dtype dtype);

/* Product of the dimensions; 1 for a scalar; -1 if a dimension is unknown or the product overflows.
 */
TSR_API int64_t tsr_shape_count(const tsr_shape *shape);

typedef struct tsr_tensor_info {
    const char *name;
    tsr_dtype dtype;
    tsr_shape shape;
    const char
        *dim_name[TSR_MAX_RANK]; /* symbolic names such as "batch"; NULL where there is none */
} tsr_tensor_info;

#ifdef __cplusplus
}
#endif
#endif
