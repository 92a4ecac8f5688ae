#define _POSIX_C_SOURCE 200809L

#include "folder.h"

#include "numbered.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool make_folder(const char *path) {
    char part[PATH_SIZE];
    struct stat status;
    if (strlen(path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t end = 1; *path; end++) {
        if (path[end] && path[end] != '/')
            continue;
        memcpy(part, path, end);
        part[end] = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return false;
        if (!path[end])
            break;
    }
    return !stat(path, &status) && S_ISDIR(status.st_mode);
}
