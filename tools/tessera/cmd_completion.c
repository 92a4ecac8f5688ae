#include "manual.h"
#include "tool.h"

static bool has_choices(const option *item) {
    return item->kind == OPTION_CHOICE;
}

static bool is_free(const option *item) {
    return option_takes_value(item) && !has_choices(item);
}

static void print_names(const option *item, const char *before) {
    printf("%s", before);
    if (item->letter)
        printf("-%c | ", item->letter);
    printf("--%s", item->name);
}

/* Those after which a file or any text comes are one pattern. */
static void print_values(const option_set *set) {
    const char *between = "            ";
    for (int i = 0; i < set->count; i++)
        if (is_free(&set->items[i])) {
            print_names(&set->items[i], between);
            between = " | ";
        }
    if (between[0] == ' ' && between[1] == '|')
        puts(") return ;;");
    for (int i = 0; i < set->count; i++) {
        const option *item = &set->items[i];
        if (!has_choices(item))
            continue;
        print_names(item, "            ");
        fputs(") words='", stdout);
        for (int k = 0; item->choices[k]; k++)
            printf("%s%s", k ? " " : "", item->choices[k]);
        puts("' ;;");
    }
}

static void print_options(const option_set *set) {
    puts("        case $before in");
    print_values(set);
    fputs("            *) [[ $word != -* ]] || words='", stdout);
    for (int i = 0; i < set->count; i++)
        printf("%s--%s", i ? " " : "", set->items[i].name);
    puts("' ;;\n        esac\n        ;;");
}

/* Where no word fits, bash completes files: complete -o default. */
static void print_script(void) {
    printf("# For bash, of tessera %s: source <(tessera completion)\n"
           "_tessera() {\n"
           "    local word=$2 before=$3 words=\n"
           "    COMPREPLY=()\n"
           "    case $COMP_CWORD:${COMP_WORDS[1]} in\n"
           "    1:*) words='--help --version",
           TSR_VERSION);
    for (const command *c = commands; c->name; c++)
        printf(" %s", c->name);
    puts("' ;;");
    for (const command *c = commands; c->name; c++) {
        printf("    *:%s)\n", c->name);
        command_describe(c, print_options);
    }
    puts("    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _tessera tessera");
}

int cmd_completion(int argc, char **argv) {
    option_set set = {
        .usage = "tessera completion",
        .notes = "source <(tessera completion)    completes in this shell; a line of ~/.bashrc.\n",
    };
    int arguments, exit_code;
    if (!options_parse(&set, argc, argv, &arguments, &exit_code))
        return exit_code;
    print_script();
    return EXIT_DONE;
}
