/* tessera: the command line tool. Each command lives in its cmd_<name>.c. */
#define _POSIX_C_SOURCE 200809L
#include "manual.h"
#include "tool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const command commands[] = {
#define COMMAND_ENTRY(name, text) {#name, text, cmd_##name},
    COMMANDS(COMMAND_ENTRY)
#undef COMMAND_ENTRY
        {NULL, NULL, NULL}};

static void print_help(FILE *out) {
    fprintf(out,
            "tessera " TSR_VERSION ": neural networks as GPU passes: OpenGL ES 3.0 fragments or "
            "WebGPU compute\n\nusage: tessera COMMAND ...\n\ncommands:\n");
    for (const command *c = commands; c->name; c++)
        fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fprintf(out, "\n'tessera COMMAND --help' lists the options of a command.\n"
                 "Exit codes: " EXIT_CODES "\n");
}

const command *command_find(const char *name) {
    for (const command *c = commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

void command_describe(const command *c, option_printer print) {
    char *name = (char *)c->name, help[] = "--help", *arguments[] = {name, help, NULL};
    options_print_with(print);
    c->run(2, arguments);
    options_print_with(NULL);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("tessera " TSR_VERSION);
        return EXIT_DONE;
    }
    const command *found = command_find(argv[1]);
    if (!found)
        return command_exit(fail(TSR_ERROR_INVALID_ARGUMENT,
                                 "no command '%s'; 'tessera --help' lists them", argv[1]));
    avoid_full_disk();
    return found->run(argc - 1, argv + 1);
}

/* If the caller closed a standard stream, the next opened file would get its descriptor, and
 * messages would be written into it. */
static void fill_standard_streams(void) {
    int descriptor;
    while ((descriptor = open("/dev/null", O_RDONLY)) >= 0 && descriptor <= STDERR_FILENO)
        continue;
    if (descriptor >= 0)
        close(descriptor);
}

int main(int argc, char **argv) {
    fill_standard_streams();
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("tessera: cannot write to the standard output\n", stderr);
        return code ? code : EXIT_BAD_INPUT;
    }
    return code;
}
