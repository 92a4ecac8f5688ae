/* Programs: compiled once per device, shared by passes and sessions that need the same text. */
#ifndef TSR_GLES_PROGRAM_H
#define TSR_GLES_PROGRAM_H

#include "base/cache.h"
#include "gles/gl.h"
#include "gpu/program_text.h"

typedef struct tsr_program tsr_program;
struct tsr_program {
    tsr_program *next;
    tsr_program_keys keys; /* of texts; key: in the cache on disk */
    char *text;            /* of the fragment shader */
    GLuint id;
    int references;
    bool checked; /* link status was checked */
    tsr_cache_key key;
    bool cached, to_store;    /* loaded from the cache on disk; to be stored there once linked */
    GLint ints, floats, draw; /* locations, -1 where the driver removed a uniform */
};

typedef struct tsr_program_cache {
    tsr_program *head;
    bool on_disk; /* the driver supports program binaries */
    tsr_cache_key device;
} tsr_program_cache;

/* device: name and version are filled in. */
void tsr_program_cache_open(tsr_program_cache *cache, const tsr_device_info *device);
/* Finds or starts compiling a program. Drivers may compile several programs in parallel;
 * tsr_program_finish waits. */
tsr_status tsr_program_acquire(tsr_program_cache *cache, tsr_program_text *text,
                               tsr_program **program);
/* The same for a fragment shader from tsr_malloc(), whose ownership is transferred. */
tsr_status tsr_program_acquire_text(tsr_program_cache *cache, char *text, tsr_program **program);
/* False while the driver compiles and links it; true, too, if the driver does not tell: then
 * tsr_program_finish waits. */
bool tsr_program_is_linked(const tsr_program *program);
/* body: the program has a custom operator's body, which is to blame if the driver refuses it. */
tsr_status tsr_program_finish(tsr_program *program, const char *kernel, bool body);
void tsr_program_release(tsr_program_cache *cache, tsr_program *program);
/* usable: false after the context was lost, when GL objects are not deleted. */
void tsr_program_cache_clear(tsr_program_cache *cache, bool usable);

#endif
