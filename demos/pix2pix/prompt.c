#define _POSIX_C_SOURCE 200809L

#include "prompt.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void prompt_clear(prompt *p) {
    *p = (prompt){.match_count = 0};
}

/* UTF-8 of up to 4 bytes; their number. */
static int encode(unsigned u, char bytes[4]) {
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    int count = u < 0x80 ? 1 : u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;
    for (int i = count - 1; i > 0; i--, u >>= 6)
        bytes[i] = (char)(0x80 | (u & 0x3F));
    bytes[0] = (char)(marks[count] | u);
    return count;
}

static void append(prompt *p, const char *bytes, size_t count) {
    size_t length = strlen(p->text);
    if (length + count >= sizeof p->text)
        return;
    memcpy(p->text + length, bytes, count);
    p->text[length + count] = '\0';
}

void prompt_type(prompt *p, unsigned character) {
    char bytes[4];
    append(p, bytes, (size_t)encode(character, bytes));
    p->match_count = 0;
}

void prompt_erase(prompt *p) {
    size_t length = strlen(p->text);
    while (length > 0 && (p->text[length - 1] & 0xC0) == 0x80) /* not the first byte */
        length--;
    p->text[length > 0 ? length - 1 : 0] = '\0';
    p->match_count = 0;
}

/* ---- completion ------------------------------------------------------------------------------ */

static bool is_folder(const char *folder, const char *name) {
    char path[2 * PROMPT_SIZE];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s%s", folder, name);
    return length < (int)sizeof path && !stat(path, &status) && S_ISDIR(status.st_mode);
}

static bool is_picture(const char *name) {
    const char *ending = strrchr(name, '.');
    return ending && (!strcmp(ending, ".png") || !strcmp(ending, ".jpg"));
}

/* Hidden files only where the text begins with a dot. */
static bool fits(const char *folder, const char *start, const char *name) {
    size_t length = strlen(start);
    return strcmp(name, ".") && strcmp(name, "..") && (*name != '.' || *start == '.') &&
           !strncmp(name, start, length) && (is_folder(folder, name) || is_picture(name));
}

/* What all matches so far have in common: of `name`, only the first bytes stay. */
static void narrow(char common[256], const char *name, bool first) {
    size_t i = 0;
    if (first)
        snprintf(common, 256, "%s", name);
    while (common[i] && common[i] == name[i])
        i++;
    common[i] = '\0';
}

/* The matches in the folder, by name; their number. */
static int find(prompt *p, const char *folder, const char *start, char common[256]) {
    struct dirent **entries;
    int count = 0, all = scandir(*folder ? folder : ".", &entries, NULL, alphasort);
    for (int i = 0; i < all; i++) {
        const char *name = entries[i]->d_name;
        if (fits(folder, start, name)) {
            narrow(common, name, count == 0);
            if (count < PROMPT_MATCHES)
                snprintf(p->matches[count], sizeof *p->matches, "%.63s", name);
            count++;
        }
        free(entries[i]);
    }
    if (all >= 0)
        free(entries);
    return count;
}

void prompt_complete(prompt *p) {
    char folder[PROMPT_SIZE] = "", common[256] = "";
    const char *slash = strrchr(p->text, '/'), *start = slash ? slash + 1 : p->text;
    memcpy(folder, p->text, (size_t)(start - p->text));
    int count = find(p, folder, start, common);
    if (count)
        append(p, common + strlen(start), strlen(common) - strlen(start));
    if (count == 1 && is_folder(folder, common))
        append(p, "/", 1);
    p->match_count = count > 1 ? (count < PROMPT_MATCHES ? count : PROMPT_MATCHES) : 0;
}
