#define _POSIX_C_SOURCE 200809L

#include "base/cache.h"

#include "base/allocator.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FOLDER_BYTES = 64 << 20, MAX_ENTRY_BYTES = 16 << 20 };

/* Entries are named <name in 16 digits>.cache; with .<6 digits> after it while being written. */
#define SUFFIX ".cache"
enum { ENTRY_LENGTH = 16 + sizeof SUFFIX - 1, NAME_SIZE = ENTRY_LENGTH + sizeof ".000000" };

typedef struct entry_header {
    char magic[8];
    uint64_t key_check, size, checksum; /* size and checksum: of the bytes that follow */
} entry_header;

static const char magic[8] = "TSRCACH1";

/* ---- the folder ------------------------------------------------------------------------------ */

static bool folder_is_set;
static char set_folder[PATH_MAX];

tsr_status tsr_set_cache_folder(const char *path) {
    if (path && strlen(path) >= sizeof set_folder)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_set_cache_folder: the path has %zu characters, at most %zu are "
                        "possible",
                        strlen(path), sizeof set_folder - 1);
    folder_is_set = path != NULL;
    strcpy(set_folder, path ? path : "");
    return TSR_OK;
}

/* As in the XDG specification: a relative path in the environment is ignored. */
static bool find_folder(char *path, size_t size) {
    const char *off = getenv("TSR_CACHE"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (off && !strcmp(off, "off"))
        return false;
    int length = -1;
    if (folder_is_set)
        length = snprintf(path, size, "%s", set_folder);
    else if (cache && *cache == '/')
        length = snprintf(path, size, "%s/tessera", cache);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.cache/tessera", home);
    return length > 0 && (size_t)length < size;
}

bool tsr_cache_is_on(void) {
    char folder[PATH_MAX];
    return find_folder(folder, sizeof folder);
}

static bool make_folder(char *path) {
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        int reason = errno;
        *slash = '/';
        if (made != 0 && reason != EEXIST && reason != EROFS && reason != EACCES)
            return false; /* an existing subfolder may be writable */
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* The folder, -1 if there is none. What another user owns is not touched, nor what a link of
 * another user's leads to. */
static int open_folder(bool make) {
    char path[PATH_MAX];
    struct stat named, opened;
    if (!find_folder(path, sizeof path) || (make && !make_folder(path)))
        return -1;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool own = folder >= 0 && lstat(path, &named) == 0 && named.st_uid == geteuid() &&
               fstat(folder, &opened) == 0 && opened.st_uid == geteuid();
    if (folder >= 0 && !own) {
        tsr_log(TSR_LOG_WARN, "%s: another user's folder is no cache", path);
        close(folder);
    }
    return own ? folder : -1;
}

static void name_entry(const tsr_cache_key *key, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE, "%016" PRIx64 SUFFIX, key->name);
}

/* ---- loading --------------------------------------------------------------------------------- */

static bool read_all(int file, void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = read(file, (char *)bytes + done, size - done);
        if (count <= 0 && !(count < 0 && errno == EINTR))
            return false;
        done += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Checksums do not stop a forger, and a driver trusts the bytes it gets: another user must not have
 * written the entry, which is possible in a shared folder. */
static bool is_own(const struct stat *info) {
    return S_ISREG(info->st_mode) && info->st_uid == geteuid() &&
           !(info->st_mode & (S_IWGRP | S_IWOTH));
}

static void *read_entry(int file, const tsr_cache_key *key, size_t *size) {
    entry_header header;
    struct stat info;
    if (fstat(file, &info) != 0 || !is_own(&info) || !read_all(file, &header, sizeof header) ||
        memcmp(header.magic, magic, sizeof magic) != 0 || header.key_check != key->check ||
        header.size > MAX_ENTRY_BYTES || (uint64_t)info.st_size != sizeof header + header.size)
        return NULL;
    void *bytes = tsr_malloc((size_t)header.size + 1);
    if (bytes && (!read_all(file, bytes, (size_t)header.size) ||
                  tsr_cache_checksum(bytes, (size_t)header.size) != header.checksum)) {
        tsr_free(bytes);
        return NULL;
    }
    *size = (size_t)header.size;
    return bytes;
}

void *tsr_cache_load(const tsr_cache_key *key, size_t *size) {
    char name[NAME_SIZE];
    int folder = open_folder(false);
    if (folder < 0)
        return NULL;
    name_entry(key, name);
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    close(folder);
    if (file < 0)
        return NULL;
    void *bytes = read_entry(file, key, size);
    if (bytes)
        futimens(file, NULL); /* marks it as used; failure is harmless */
    close(file);
    return bytes;
}

/* ---- storing --------------------------------------------------------------------------------- */

typedef struct folder_entry {
    char name[NAME_SIZE];
    struct timespec used;
    int64_t bytes;
} folder_entry;

static bool is_older(const folder_entry *a, const folder_entry *b) {
    return a->used.tv_sec != b->used.tv_sec ? a->used.tv_sec < b->used.tv_sec
                                            : a->used.tv_nsec < b->used.tv_nsec;
}

/* Sums up the bytes of all entries, including files that crashed writers left, and finds the
 * oldest. */
static int64_t survey(DIR *folder, folder_entry *oldest) {
    int64_t total = 0;
    *oldest = (folder_entry){{0}, {0, 0}, 0};
    rewinddir(folder);
    for (struct dirent *found; (found = readdir(folder));) {
        struct stat info;
        size_t length = strlen(found->d_name);
        if (length >= NAME_SIZE || length < 16 ||
            strncmp(found->d_name + 16, SUFFIX, strlen(SUFFIX)) ||
            fstatat(dirfd(folder), found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        folder_entry entry = {.used = info.st_mtim, .bytes = info.st_size};
        memcpy(entry.name, found->d_name, length);
        total += entry.bytes;
        if (!*oldest->name || is_older(&entry, oldest))
            *oldest = entry;
    }
    return total;
}

/* Other processes may do the same concurrently: an entry that is already gone is no failure. */
static void remove_oldest(int folder) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    folder_entry oldest;
    while (entries && survey(entries, &oldest) > MAX_FOLDER_BYTES)
        if (unlinkat(folder, oldest.name, 0) != 0 && errno != ENOENT)
            break;
    if (entries)
        closedir(entries);
    else if (again >= 0)
        close(again);
}

static bool write_all(int file, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = write(file, (const char *)bytes + done, size - done);
        if (count < 0 && errno != EINTR)
            return false;
        done += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* A new file beside the entry, which no other process writes; -1 if there can be none. */
static int open_temporary(int folder, const char *name, char temporary[NAME_SIZE]) {
    static atomic_uint counter;
    int file = -1;
    for (int tries = 0; file < 0 && tries < 100; tries++) {
        unsigned number = (unsigned)getpid() * 31 + atomic_fetch_add(&counter, 1);
        snprintf(temporary, NAME_SIZE, "%.*s.%06x", ENTRY_LENGTH, name, number & 0xFFFFFF);
        file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST)
            break;
    }
    return file;
}

/* Readers see the old entry or the whole new one. */
static void replace_entry(int folder, const char *name, const entry_header *header,
                          const void *bytes) {
    char temporary[NAME_SIZE];
    int file = open_temporary(folder, name, temporary);
    if (file < 0)
        return;
    bool written =
        write_all(file, header, sizeof *header) && write_all(file, bytes, (size_t)header->size);
    written = close(file) == 0 && written;
    if (!written || renameat(folder, temporary, folder, name) != 0)
        unlinkat(folder, temporary, 0);
}

void tsr_cache_store(const tsr_cache_key *key, const void *bytes, size_t size) {
    char name[NAME_SIZE];
    int folder = size > MAX_ENTRY_BYTES ? -1 : open_folder(true);
    if (folder < 0)
        return;
    entry_header header = {
        .key_check = key->check, .size = size, .checksum = tsr_cache_checksum(bytes, size)};
    memcpy(header.magic, magic, sizeof magic);
    name_entry(key, name);
    replace_entry(folder, name, &header, bytes);
    remove_oldest(folder);
    close(folder);
}
