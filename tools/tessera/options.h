/* The one option parser of all commands: long and short names, "--name value", "--name=value", "-n
 * value". */
#ifndef TESSERA_OPTIONS_H
#define TESSERA_OPTIONS_H

#include "tessera.h"

#include <stdbool.h>

enum { OPTION_MAX = 64, TEXT_LIST_MAX = 256 };

typedef struct text_list {
    char *items[TEXT_LIST_MAX]; /* point into argv */
    int count;
} text_list;

typedef enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_COUNT,    /* int, incremented each time */
    OPTION_INT,      /* int, at least min */
    OPTION_NUMBER,   /* double, not negative */
    OPTION_TEXT,     /* char *, of argv */
    OPTION_OPTIONAL, /* the same; "" where another option, a file (by its . or /) or nothing follows
                      */
    OPTION_LIST,     /* text_list, repeatable */
    OPTION_CHOICE,   /* int, index into choices */
} option_kind;

typedef struct option {
    const char *name;  /* without dashes */
    char letter;       /* 0: none */
    const char *value; /* what --help calls the value; NULL for flags */
    const char *help;
    option_kind kind;
    void *target;
    int min;
    const char *const *choices; /* NULL-terminated */
} option;

typedef struct option_set {
    const char *usage; /* "tessera run MODEL ..." */
    const char *notes; /* printed by --help after the options, or NULL */
    int min_arguments, max_arguments;
    int count, verbosity;
    bool help;
    option items[OPTION_MAX];
} option_set;

void options_add(option_set *set, const option *items, int count);
#define OPTIONS_ADD(set, array) options_add(set, array, (int)(sizeof(array) / sizeof(array)[0]))

/* What --help calls: its own printer, or another one's until that is NULL again. */
typedef void (*option_printer)(const option_set *set);
void options_print_with(option_printer print);

/* Reorders argv: arguments that are not options move to argv[1..*arguments]. Returns false if the
 * command ends here, with the exit code: bad usage, or --help was shown. Every command has --help
 * and --verbose. */
bool options_parse(option_set *set, int argc, char **argv, int *arguments, int *exit_code);

/* Is there a value after the option's name? */
bool option_takes_value(const option *item);

/* Parses a finite, non-negative number; option_name is for the message. */
tsr_status number_parse(const char *option_name, const char *text, double *number);

/* "a,b,c" split in place at its commas; false if there are more than TEXT_LIST_MAX. */
bool text_split(char *text, text_list *list);

#endif
