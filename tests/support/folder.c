#define _XOPEN_SOURCE 700 /* nftw */

#include "support/folder.h"

#include <dirent.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

void make_cache_folder(char folder[FOLDER_PATH]) {
    const char *parent = getenv("TMPDIR");
    snprintf(folder, FOLDER_PATH, "%s/tessera-test-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("TSR_CACHE");
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

void remove_cache_folder(const char *folder) {
    setenv("TSR_CACHE", "off", 1);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char cache_folder[FOLDER_PATH];

int set_up_cache_folder(void **state) {
    (void)state;
    make_cache_folder(cache_folder);
    return 0;
}

int tear_down_cache_folder(void **state) {
    (void)state;
    remove_cache_folder(cache_folder);
    return 0;
}

int each_entry(const char *folder, folder_fn *fn, void *user) {
    char path[2 * FOLDER_PATH];
    snprintf(path, sizeof path, "%s/tessera", folder);
    DIR *open = opendir(path);
    int count = 0;
    for (struct dirent *found; open && (found = readdir(open));) {
        if (*found->d_name == '.')
            continue;
        snprintf(path, sizeof path, "%s/tessera/%s", folder, found->d_name);
        count++;
        if (fn)
            fn(path, user);
    }
    if (open)
        closedir(open);
    return count;
}

unsigned char *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

void write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* The header is 8 bytes of magic, then check of the key, size and checksum (FNV-1a). */
void replace_entry(const char *path, const void *bytes, size_t size) {
    enum { SIZE_AT = 16, CHECKSUM_AT = 24, HEADER = 32 };
    size_t old_size;
    unsigned char *old = read_bytes(path, &old_size), *entry = malloc(HEADER + size);
    assert_non_null(entry);
    assert_true(old_size >= HEADER);
    uint64_t count = size, sum = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    memcpy(entry, old, SIZE_AT);
    memcpy(entry + SIZE_AT, &count, sizeof count);
    memcpy(entry + CHECKSUM_AT, &sum, sizeof sum);
    memcpy(entry + HEADER, bytes, size);
    write_bytes(path, entry, HEADER + size);
    free(old);
    free(entry);
}
