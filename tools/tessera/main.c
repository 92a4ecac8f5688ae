/* tessera: the command line tool. Each command lives in its cmd_<name>.c. */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND_ENTRY(name, text) {#name, text, cmd_##name},
    COMMANDS(COMMAND_ENTRY)
#undef COMMAND_ENTRY
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
    fprintf(out,
            "tessera " TSR_VERSION ": neural networks as GPU passes: OpenGL ES 3.0 fragments or "
            "WebGPU compute\n\nusage: tessera COMMAND ...\n\ncommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n'tessera COMMAND --help' lists the options of a command.\n"
                 "Exit codes: 0 success, 1 out of tolerance, test failed or input skipped, "
                 "2 bad usage or bad input, 3 device error.\n");
}

static const struct command *find_command(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
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
    const struct command *command = find_command(argv[1]);
    if (!command)
        return command_exit(fail(TSR_ERROR_INVALID_ARGUMENT,
                                 "no command '%s'; 'tessera --help' lists them", argv[1]));
    avoid_full_disk();
    return command->run(argc - 1, argv + 1);
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
