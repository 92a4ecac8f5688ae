/* Programs: compiled once per device, shared by passes and sessions that need the same text. */
#ifndef TSR_GLES_PROGRAM_H
#define TSR_GLES_PROGRAM_H

#include "gles/gl.h"
#include "gpu/program_cache.h"
#include "gpu/program_text.h"

typedef struct tsr_program {
    tsr_cached_program entry; /* text: of the fragment shader; compiled: its link status, too */
    GLuint id;
    tsr_cache_key key;     /* in the cache on disk */
    bool precompiled;      /* to machine code: src/gles/precompile.h */
    bool cached, to_store; /* loaded from the cache on disk; to be stored there once linked */
    GLint params, draw;    /* locations, -1 where the driver removed a uniform */
    int32_t *params_set;   /* their values, which a program keeps; at first they are 0 */
    int32_t draw_set[TSR_MAX_DRAW_ARGS];
} tsr_program;

typedef struct tsr_programs {
    tsr_program_cache cache;
    bool on_disk; /* the driver supports program binaries */
    tsr_cache_key device;
} tsr_programs;

/* device: name and version are filled in. */
void tsr_programs_open(tsr_programs *programs, const tsr_device_info *device);
/* Finds or starts compiling a program. Drivers may compile several programs in parallel;
 * tsr_program_finish waits. */
tsr_status tsr_program_acquire(tsr_programs *programs, tsr_program_text *text,
                               tsr_program **program);
/* The same for a fragment shader from tsr_malloc(), whose ownership is transferred. */
tsr_status tsr_program_acquire_text(tsr_programs *programs, char *text, tsr_program **program);
/* The bare program, without memory of ours, for another context; 0 if the driver refuses it. */
GLuint tsr_program_link(const char *fragment_text);
/* False while the driver compiles and links it; true, too, if the driver does not tell: then
 * tsr_program_finish waits. */
bool tsr_program_is_linked(const tsr_program *program);
/* body: the program has a custom operator's body, which is to blame if the driver refuses it. */
tsr_status tsr_program_finish(tsr_program *program, const char *kernel, bool body);
void tsr_program_release(tsr_programs *programs, tsr_program *program);
/* usable: false after the context was lost, when GL objects are not deleted. */
void tsr_programs_clear(tsr_programs *programs, bool usable);

#endif
