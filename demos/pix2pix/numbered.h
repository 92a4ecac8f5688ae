/* Names of files that are saved by a key. */
#ifndef PIX2PIX_NUMBERED_H
#define PIX2PIX_NUMBERED_H

#include <stdbool.h>

enum { PATH_SIZE = 4096 };

/* <folder>/<program>-<number> with the lowest number for which there is no file with this end yet.
 * The folder is made if it is missing. False after a complaint. */
bool numbered_prefix(const char *folder, const char *end, char prefix[PATH_SIZE]);

#endif
