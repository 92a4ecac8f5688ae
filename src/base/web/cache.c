/* WebAssembly has no files: there is no cache, whatever its folder is said to be. */
#include "base/cache.h"

#include "base/error.h"

tsr_status tsr_set_cache_folder(const char *path) {
    (void)path;
    return TSR_OK;
}

bool tsr_cache_is_on(void) {
    return false;
}

void *tsr_cache_load(const tsr_cache_key *key, size_t *size) {
    (void)key;
    (void)size;
    return NULL;
}

void tsr_cache_store(const tsr_cache_key *key, const void *bytes, size_t size) {
    (void)key;
    (void)bytes;
    (void)size;
}
