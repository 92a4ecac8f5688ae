/* The cache on disk: what is stored comes back, what is damaged or another's does not, and nothing
 * about the folder makes a caller fail. */
#define _POSIX_C_SOURCE 200809L

#include "base/cache.h"
#include "base/error.h"
#include "support/folder.h"
#include "support/main.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static tsr_cache_key key_of(const char *text) {
    tsr_cache_key key = tsr_cache_key_start();
    tsr_cache_key_add(&key, text);
    return key;
}

static void store(const char *key, const char *text) {
    tsr_cache_key k = key_of(key);
    tsr_cache_store(&k, text, strlen(text));
}

/* text NULL: there is no entry. */
static void expect(const char *key, const char *text) {
    tsr_cache_key k = key_of(key);
    size_t size = 0;
    char *bytes = tsr_cache_load(&k, &size);
    if (!text)
        assert_null(bytes);
    else {
        assert_non_null(bytes);
        assert_int_equal(size, strlen(text));
        assert_memory_equal(bytes, text, size);
    }
    free(bytes);
}

static void copy_path(const char *path, void *user) {
    snprintf(user, 2 * FOLDER_PATH, "%s", path);
}

static void test_round_trip(void **state) {
    (void)state;
    expect("a", NULL);
    store("a", "first");
    store("b", "other");
    expect("a", "first");
    store("a", "second, and longer");
    expect("a", "second, and longer");
    store("a", "");
    expect("a", "");
    expect("b", "other");
    assert_int_equal(each_entry(cache_folder, NULL, NULL), 2);
}

static void test_keys_of_parts(void **state) {
    (void)state;
    tsr_cache_key ab_c = key_of("ab"), a_bc = key_of("a"), abc = key_of("abc");
    tsr_cache_key_add(&ab_c, "c");
    tsr_cache_key_add(&a_bc, "bc");
    assert_true(ab_c.name != a_bc.name && ab_c.check != a_bc.check);
    assert_true(abc.name != a_bc.name && abc.check != a_bc.check);
    assert_true(abc.name != ab_c.name && abc.check != ab_c.check);
}

/* Cut at every length, every byte changed, longer than it says: absent, until stored again. */
static void test_damage(void **state) {
    (void)state;
    char path[2 * FOLDER_PATH] = "";
    store("a", "payload");
    each_entry(cache_folder, copy_path, path);
    size_t size;
    unsigned char *whole = read_bytes(path, &size);
    for (size_t i = 0; i < size; i++) {
        write_bytes(path, whole, i);
        expect("a", NULL);
        whole[i] ^= 1;
        write_bytes(path, whole, size);
        expect("a", NULL);
        whole[i] ^= 1;
    }
    whole[size] = 0;
    write_bytes(path, whole, size + 1);
    expect("a", NULL);
    store("a", "payload");
    expect("a", "payload");
    free(whole);
}

static void test_entry_of_another_key(void **state) {
    (void)state;
    char a[2 * FOLDER_PATH] = "", b[2 * FOLDER_PATH] = "";
    store("b", "b's");
    each_entry(cache_folder, copy_path, b);
    unlink(b);
    store("a", "a's");
    each_entry(cache_folder, copy_path, a);
    assert_string_not_equal(a, b);
    assert_int_equal(rename(a, b), 0);
    expect("b", NULL);
    store("b", "b's");
    expect("b", "b's");
}

/* A pipe would block a reader, a folder cannot be replaced by a file. */
static void test_no_file(void **state) {
    (void)state;
    char path[2 * FOLDER_PATH] = "";
    store("a", "payload");
    each_entry(cache_folder, copy_path, path);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect("a", NULL);
    store("a", "payload");
    expect("a", "payload");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    store("a", "payload");
    expect("a", NULL);
    assert_int_equal(each_entry(cache_folder, NULL, NULL), 1);
}

static void test_folders(void **state) {
    (void)state;
    assert_true(tsr_cache_is_on());
    setenv("TSR_CACHE", "off", 1);
    assert_false(tsr_cache_is_on());
    store("a", "payload");
    assert_int_equal(each_entry(cache_folder, NULL, NULL), 0);
    unsetenv("TSR_CACHE");
    static const char *const bad[] = {"/dev/null/cache", "/proc/no/such", "relative", ""};
    unsetenv("HOME");
    for (int i = 0; i < 4; i++) {
        setenv("XDG_CACHE_HOME", bad[i], 1);
        store("a", "payload");
        expect("a", NULL);
    }
    char home[2 * FOLDER_PATH];
    snprintf(home, sizeof home, "%s/.cache", cache_folder);
    setenv("HOME", cache_folder, 1);
    store("a", "payload");
    expect("a", "payload");
    assert_int_equal(each_entry(home, NULL, NULL), 1);
}

/* As root may write everywhere, this one gives up being root. */
static void test_unwritable_folder(void **state) {
    (void)state;
    store("a", "payload");
    char path[2 * FOLDER_PATH];
    snprintf(path, sizeof path, "%s/tessera", cache_folder);
    assert_int_equal(chmod(cache_folder, 0755) | chmod(path, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        tsr_cache_key b = key_of("b");
        size_t size;
        tsr_cache_store(&b, "b", 1);
        _exit(tsr_cache_load(&b, &size) ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    chmod(path, 0755);
    assert_int_equal(status, 0);
    assert_int_equal(each_entry(cache_folder, NULL, NULL), 1);
    expect("a", "payload");
}

/* A driver trusts the bytes: only this user's own are loaded, from wherever the folder is. */
static void test_entry_of_others(void **state) {
    (void)state;
    char path[2 * FOLDER_PATH] = "";
    store("a", "payload");
    each_entry(cache_folder, copy_path, path);
    static const mode_t writable[] = {0620, 0602};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chmod(path, writable[i]), 0);
        expect("a", NULL);
    }
    assert_int_equal(chmod(path, 0600), 0);
    expect("a", "payload");
    if (chown(path, 65534, (gid_t)-1) == 0) /* only root may */
        expect("a", NULL);
    store("a", "mine again");
    expect("a", "mine again");
}

/* A link in an entry's place is not followed, to be read or written. */
static void test_links(void **state) {
    (void)state;
    char path[2 * FOLDER_PATH] = "", aside[2 * FOLDER_PATH];
    store("a", "payload");
    each_entry(cache_folder, copy_path, path);
    snprintf(aside, sizeof aside, "%s/aside", cache_folder);
    assert_int_equal(rename(path, aside) | symlink(aside, path), 0);
    expect("a", NULL);
    store("a", "another");
    expect("a", "another");
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(rename(aside, path), 0);
    expect("a", "payload");
}

/* Only root can make them. */
static void test_folder_of_others(void **state) {
    (void)state;
    char folder[2 * FOLDER_PATH], own[2 * FOLDER_PATH];
    store("a", "payload");
    snprintf(folder, sizeof folder, "%s/tessera", cache_folder);
    if (chown(folder, 65534, (gid_t)-1) != 0)
        skip();
    expect("a", NULL);
    store("b", "payload");
    assert_int_equal(chown(folder, geteuid(), (gid_t)-1), 0);
    expect("a", "payload");
    expect("b", NULL);
    snprintf(own, sizeof own, "%s/own", cache_folder);
    assert_int_equal(rename(folder, own) | symlink(own, folder), 0);
    expect("a", "payload"); /* through a link of this user's */
    assert_int_equal(lchown(folder, 65534, (gid_t)-1), 0);
    expect("a", NULL);
    assert_int_equal(unlink(folder), 0);
}

/* ---- several processes ----------------------------------------------------------------------- */

enum { WRITERS = 4, ROUNDS = 300, LONGEST = 20000 };

/* Each writer has a length and a byte of its own: a mixture of two would show. */
static bool write_and_read(int writer) {
    tsr_cache_key key = key_of("shared");
    static unsigned char bytes[LONGEST];
    memset(bytes, writer, sizeof bytes);
    for (int i = 0; i < ROUNDS; i++) {
        tsr_cache_store(&key, bytes, (size_t)(LONGEST / WRITERS * (writer + 1)));
        size_t size = 0;
        unsigned char *loaded = tsr_cache_load(&key, &size);
        if (!loaded || size != (size_t)(LONGEST / WRITERS * (loaded[0] + 1)))
            return false;
        for (size_t k = 0; k < size; k++)
            if (loaded[k] != loaded[0])
                return false;
        free(loaded);
    }
    return true;
}

static void test_processes(void **state) {
    (void)state;
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0)
            _exit(write_and_read(i) ? 0 : 1);
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        wait(&status);
        assert_int_equal(status, 0);
    }
    assert_int_equal(each_entry(cache_folder, NULL, NULL), 1);
}

/* ---- the bound on the folder's size ---------------------------------------------------------- */

static void make_old(const char *path, void *user) {
    struct timespec times[2] = {{*(time_t *)user, 0}, {*(time_t *)user, 0}};
    utimensat(AT_FDCWD, path, times, 0);
    ++*(time_t *)user;
}

static void add_size(const char *path, void *user) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    *(long *)user += (long)info.st_size;
}

/* Nine entries of 8 MiB: the least recently used has to go, and what is no entry stays. */
static void test_bound(void **state) {
    (void)state;
    enum { ENTRY = 8 << 20 };
    char *bytes = calloc(1, ENTRY), name[2] = "0", foreign[2 * FOLDER_PATH];
    time_t old = 1000;
    for (; *name < '7'; ++*name) {
        tsr_cache_key key = key_of(name);
        tsr_cache_store(&key, bytes, ENTRY);
    }
    snprintf(foreign, sizeof foreign, "%s/tessera/notes.txt", cache_folder);
    write_bytes(foreign, "mine", 4);
    each_entry(cache_folder, make_old, &old);
    tsr_cache_key used = key_of("0");
    size_t size;
    free(tsr_cache_load(&used, &size));
    for (; *name < '9'; ++*name) {
        tsr_cache_key key = key_of(name);
        tsr_cache_store(&key, bytes, ENTRY);
    }
    free(bytes);
    long total = 0;
    assert_int_equal(each_entry(cache_folder, add_size, &total), 7 + 1);
    assert_true(total <= 64l << 20);
    assert_int_equal(access(foreign, F_OK), 0);
    for (const char *kept = "078"; *kept; kept++) {
        tsr_cache_key key = key_of((char[]){*kept, 0});
        void *loaded = tsr_cache_load(&key, &size);
        assert_non_null(loaded);
        free(loaded);
    }
}

static void test_folder_of_caller(void **state) {
    (void)state;
    char own[FOLDER_PATH + 16], path[FOLDER_PATH + 32], longer[PATH_MAX + 1];
    store("a", "in the default folder");
    snprintf(own, sizeof own, "%s/own", cache_folder);
    snprintf(path, sizeof path, "%s/tessera", own);
    assert_int_equal(tsr_set_cache_folder(path), TSR_OK);
    path[0] = 'x'; /* it was copied */
    expect("a", NULL);
    store("a", "in another");
    expect("a", "in another");
    assert_int_equal(each_entry(own, NULL, NULL), 1);
    setenv("TSR_CACHE", "off", 1);
    expect("a", NULL);
    unsetenv("TSR_CACHE");
    memset(longer, 'a', PATH_MAX);
    longer[PATH_MAX] = 0;
    assert_int_equal(tsr_set_cache_folder(longer), TSR_ERROR_INVALID_ARGUMENT);
    expect("a", "in another");
    assert_int_equal(tsr_set_cache_folder(""), TSR_OK);
    assert_false(tsr_cache_is_on());
    store("a", "nowhere");
    expect("a", NULL);
    assert_int_equal(tsr_set_cache_folder(NULL), TSR_OK);
    expect("a", "in the default folder");
}

int run_program(void) {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, set_up_cache_folder, tear_down_cache_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),           TEST(test_keys_of_parts),   TEST(test_damage),
        TEST(test_entry_of_another_key), TEST(test_no_file),         TEST(test_folders),
        TEST(test_unwritable_folder),    TEST(test_entry_of_others), TEST(test_links),
        TEST(test_folder_of_others),     TEST(test_processes),       TEST(test_bound),
        TEST(test_folder_of_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
