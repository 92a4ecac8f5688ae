/* Folders. */
#ifndef PIX2PIX_FOLDER_H
#define PIX2PIX_FOLDER_H

#include <stdbool.h>

/* The folder and those that it is in, where they are missing. False if one cannot be made: see
 * errno. */
bool make_folder(const char *path);

#endif
