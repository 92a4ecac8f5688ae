#define _POSIX_C_SOURCE 200809L
#include "options.h"
#include "tool.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_add(option_set *set, const option *items, int count) {
    assert(set->count + count <= OPTION_MAX);
    for (int i = 0; i < count; i++)
        set->items[set->count++] = items[i];
}

static option_printer printer;

void options_print_with(option_printer print) {
    printer = print;
}

static void print_help(const option_set *set) {
    printf("usage: %s\n\noptions:\n", set->usage);
    for (int i = 0; i < set->count; i++) {
        const option *item = &set->items[i];
        char left[64];
        int used = item->letter ? snprintf(left, sizeof left, "-%c, ", item->letter)
                                : snprintf(left, sizeof left, "    ");
        snprintf(left + used, sizeof left - (size_t)used, "--%s%s%s", item->name,
                 item->value ? " " : "", item->value ? item->value : "");
        printf("  %-32s %s\n", left, item->help);
    }
    if (set->notes)
        printf("\n%s", set->notes);
}

bool option_takes_value(const option *item) {
    return item->kind != OPTION_FLAG && item->kind != OPTION_COUNT;
}

static const option *find_long(const option_set *set, const char *name, size_t length) {
    for (int i = 0; i < set->count; i++) {
        const char *known = set->items[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return &set->items[i];
    }
    return NULL;
}

static const option *find_letter(const option_set *set, char letter) {
    for (int i = 0; i < set->count; i++)
        if (set->items[i].letter == letter)
            return &set->items[i];
    return NULL;
}

static tsr_status set_choice(const option *item, const char *text) {
    char all[128] = "";
    for (int i = 0; item->choices[i]; i++) {
        if (strcmp(item->choices[i], text) == 0) {
            *(int *)item->target = i;
            return TSR_OK;
        }
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", item->choices[i]);
    }
    return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s '%s' is not one of: %s", item->name, text, all);
}

static tsr_status set_int(const option *item, const char *text) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < item->min || value > INT_MAX)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--%s expects a whole number of at least %d, not '%s'", item->name, item->min,
                    text);
    *(int *)item->target = (int)value;
    return TSR_OK;
}

tsr_status number_parse(const char *option_name, const char *text, double *number) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s expects a number of at least 0, not '%s'",
                    option_name, text);
    *number = value;
    return TSR_OK;
}

static tsr_status set_value(const option *item, char *text) {
    switch (item->kind) {
    case OPTION_FLAG:
        *(bool *)item->target = true;
        return TSR_OK;
    case OPTION_COUNT:
        ++*(int *)item->target;
        return TSR_OK;
    case OPTION_INT:
        return set_int(item, text);
    case OPTION_NUMBER:
        return number_parse(item->name, text, item->target);
    case OPTION_TEXT:
    case OPTION_OPTIONAL:
        *(char **)item->target = text;
        return TSR_OK;
    case OPTION_CHOICE:
        return set_choice(item, text);
    case OPTION_LIST:
        break;
    }
    text_list *list = item->target;
    if (list->count == TEXT_LIST_MAX)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s is given more than %d times", item->name,
                    TEXT_LIST_MAX);
    list->items[list->count++] = text;
    return TSR_OK;
}

/* attached: the value in the same argument, or NULL. */
static tsr_status apply(const option *item, char *attached, int argc, char **argv, int *at) {
    if (!option_takes_value(item)) {
        if (attached)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s accepts no value", item->name);
        return set_value(item, NULL);
    }
    if (!attached) {
        bool none = *at + 1 >= argc || strncmp(argv[*at + 1], "--", 2) == 0;
        if (item->kind == OPTION_OPTIONAL && (none || strpbrk(argv[*at + 1], "./")))
            return set_value(item, argv[*at] + strlen(argv[*at]));
        if (none)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s expects a value: %s", item->name,
                        item->value);
        attached = argv[++*at];
    }
    return set_value(item, attached);
}

static tsr_status parse_long(const option_set *set, int argc, char **argv, int *at) {
    char *name = argv[*at] + 2;
    char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const option *item = find_long(set, name, length);
    if (!item)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "unknown option '--%.*s'", (int)length, name);
    return apply(item, equals ? equals + 1 : NULL, argc, argv, at);
}

static tsr_status parse_short(const option_set *set, int argc, char **argv, int *at) {
    for (char *letter = argv[*at] + 1; *letter; letter++) {
        const option *item = find_letter(set, *letter);
        if (!item)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "unknown option '-%c'", *letter);
        if (option_takes_value(item))
            return apply(item, letter[1] ? letter + 1 : NULL, argc, argv, at);
        TRY(set_value(item, NULL));
    }
    return TSR_OK;
}

static tsr_status parse(option_set *set, int argc, char **argv, int *arguments) {
    bool options_over = false;
    *arguments = 0;
    for (int at = 1; at < argc; at++) {
        char *text = argv[at];
        if (options_over || text[0] != '-' || !text[1])
            argv[++*arguments] = text;
        else if (strcmp(text, "--") == 0)
            options_over = true;
        else
            TRY(text[1] == '-' ? parse_long(set, argc, argv, &at)
                               : parse_short(set, argc, argv, &at));
    }
    if (set->help)
        return TSR_OK;
    if (*arguments < set->min_arguments)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "missing argument; usage: %s", set->usage);
    if (*arguments > set->max_arguments)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "unexpected argument '%s'; usage: %s",
                    argv[set->max_arguments + 1], set->usage);
    return TSR_OK;
}

bool options_parse(option_set *set, int argc, char **argv, int *arguments, int *exit_code) {
    const option common[] = {
        {"verbose", 'v', NULL, "print informative messages; -vv also debug messages", OPTION_COUNT,
         &set->verbosity, 0, NULL},
        {"help", 'h', NULL, "show this help", OPTION_FLAG, &set->help, 0, NULL},
    };
    OPTIONS_ADD(set, common);
    tsr_status status = parse(set, argc, argv, arguments);
    log_to_stderr(set->verbosity);
    *exit_code = command_exit(status);
    if (status != TSR_OK)
        return false;
    if (set->help)
        (printer ? printer : print_help)(set);
    return !set->help;
}

bool text_split(char *text, text_list *list) {
    list->count = 0;
    for (char *next = text; next;) {
        if (list->count == TEXT_LIST_MAX)
            return false;
        list->items[list->count++] = next;
        next = strchr(next, ',');
        if (next)
            *next++ = '\0';
    }
    return true;
}
