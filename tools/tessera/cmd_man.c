/* Manual pages in man's macros for troff: man(7). */
#include "manual.h"
#include "tool.h"

#include <string.h>

/* Text in which troff sees no request, escape or hyphen that breaks a line or turns into a dash. */
static void print_text(const char *text) {
    bool line_begins = true;
    for (; *text; text++) {
        if (line_begins && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        line_begins = *text == '\n';
    }
}

/* Lines stay as they are. */
static void print_lines(const char *heading, const char *text) {
    printf(".SH %s\n.nf\n", heading);
    print_text(text);
    puts(text[0] && text[strlen(text) - 1] == '\n' ? ".fi" : "\n.fi");
}

static void print_item(const option *item) {
    puts(".TP");
    if (item->letter)
        printf("\\fB\\-%c\\fR, ", item->letter);
    fputs("\\fB\\-\\-", stdout);
    print_text(item->name);
    fputs("\\fR", stdout);
    if (item->value) {
        fputs(" \\fI", stdout);
        print_text(item->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_text(item->help);
    putchar('\n');
}

static void print_options(const option_set *set) {
    print_lines("SYNOPSIS", set->usage);
    puts(".SH OPTIONS");
    for (int i = 0; i < set->count; i++)
        print_item(&set->items[i]);
    if (set->notes)
        print_lines("NOTES", set->notes);
}

static void print_head(const char *name, const char *summary) {
    char upper[32];
    size_t length = 0;
    for (; name[length] && length < sizeof upper - 1; length++)
        upper[length] =
            (char)(name[length] >= 'a' && name[length] <= 'z' ? name[length] - 32 : name[length]);
    upper[length] = '\0';
    fputs(".TH ", stdout);
    print_text(upper);
    puts(" 1 \"\" \"tessera " TSR_VERSION "\" \"Tessera\"\n.SH NAME");
    print_text(name);
    fputs(" \\- ", stdout);
    print_text(summary);
    putchar('\n');
}

static void print_exit_codes(void) {
    printf(".SH EXIT STATUS\n");
    print_text(EXIT_CODES "\n");
}

static void print_command(const command *c) {
    char name[32];
    snprintf(name, sizeof name, "tessera-%s", c->name);
    print_head(name, c->summary);
    command_describe(c, print_options);
    print_exit_codes();
    puts(".SH SEE ALSO\n.BR tessera (1)");
}

static void print_overview(void) {
    print_head("tessera", "neural networks as passes of a GPU: OpenGL ES 3.0 or WebGPU");
    puts(".SH SYNOPSIS\n.B tessera\n.I COMMAND\n\\&...\n.SH COMMANDS");
    for (const command *c = commands; c->name; c++) {
        printf(".TP\n.BR tessera\\-%s (1)\n", c->name);
        print_text(c->summary);
        putchar('\n');
    }
    print_exit_codes();
}

int cmd_man(int argc, char **argv) {
    option_set set = {
        .usage = "tessera man [COMMAND]",
        .notes = "tessera man run | man -l -    shows the page of the command run.\n",
        .max_arguments = 1,
    };
    int arguments, exit_code;
    if (!options_parse(&set, argc, argv, &arguments, &exit_code))
        return exit_code;
    if (arguments == 0) {
        print_overview();
        return EXIT_DONE;
    }
    const command *c = command_find(argv[1]);
    if (!c)
        return command_exit(fail(TSR_ERROR_INVALID_ARGUMENT,
                                 "no command '%s'; 'tessera --help' lists them", argv[1]));
    print_command(c);
    return EXIT_DONE;
}
