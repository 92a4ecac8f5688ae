#define _POSIX_C_SOURCE 200809L

#include "numbered.h"

#include "folder.h"
#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool numbered_prefix(const char *folder, const char *end, char prefix[PATH_SIZE]) {
    char path[PATH_SIZE + 16];
    if (!make_folder(folder))
        return complain("%.400s: the folder cannot be made: %s", folder, strerror(errno));
    for (int number = 1; number < 10000; number++) {
        int length = snprintf(prefix, PATH_SIZE, "%s/" PROGRAM_NAME "-%03d", folder, number);
        if (length < 0 || length >= PATH_SIZE)
            return complain("%.400s: the name is too long", folder);
        snprintf(path, sizeof path, "%s%s", prefix, end);
        if (access(path, F_OK))
            return true;
    }
    return complain("%s: " PROGRAM_NAME "-001 to " PROGRAM_NAME "-9999 all exist", folder);
}
