#define _POSIX_C_SOURCE 200809L
#include "tool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Mesa maps an index of 1.3 MiB of its cache into memory. */
enum { NEEDED = 4 << 20 };

/* As Mesa chooses it, or the folder above, which exists; false if there is none. */
static bool find_space(unsigned long long *bytes) {
    const char *own = getenv("MESA_SHADER_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", own ? own : cache ? cache : home ? home : "");
    struct statvfs disk;
    while (*path && statvfs(path, &disk) != 0) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    *bytes = *path ? (unsigned long long)disk.f_bavail * disk.f_frsize : 0;
    return *path;
}

void avoid_full_disk(void) {
    unsigned long long bytes;
    if (getenv("MESA_SHADER_CACHE_DISABLE") || !find_space(&bytes) || bytes >= NEEDED)
        return;
    fputs("tessera: warning: the disk of the GPU driver's cache is full: nothing is cached\n",
          stderr);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
}
