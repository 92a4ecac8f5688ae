/* A temporary folder and the files in it, for tests of what is on disk. What goes wrong fails the
 * test. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

enum { FOLDER_PATH = 512 };

/* An empty folder, and the cache on disk switched on inside: ${folder}/tessera. */
void make_cache_folder(char folder[FOLDER_PATH]);
/* Removes it with all that is in it and switches the cache off. */
void remove_cache_folder(const char *folder);

/* The same as a fixture of each test. */
extern char cache_folder[FOLDER_PATH];
int set_up_cache_folder(void **state);
int tear_down_cache_folder(void **state);

/* Calls fn for every entry of ${folder}/tessera; returns how many there are. */
typedef void folder_fn(const char *path, void *user);
int each_entry(const char *folder, folder_fn *fn, void *user);

unsigned char *read_bytes(const char *path, size_t *size); /* to be freed */
void write_bytes(const char *path, const void *bytes, size_t size);
/* Lets an entry hold these bytes, as if they had been stored under its key. */
void replace_entry(const char *path, const void *bytes, size_t size);

#endif
