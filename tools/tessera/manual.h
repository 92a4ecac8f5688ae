/* What is made from the commands and their option tables, besides --help: manual pages and bash's
 * completion. */
#ifndef TESSERA_MANUAL_H
#define TESSERA_MANUAL_H

#include "options.h"

#include <stdio.h>

typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} command;

/* Ends with an entry whose name is NULL. */
extern const command commands[];

/* NULL if there is none of that name. */
const command *command_find(const char *name);

/* Calls print with the options of a command, which does nothing else. */
void command_describe(const command *c, option_printer print);

#endif
