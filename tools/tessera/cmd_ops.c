/* The table of operators, from ops.def and from what src/onnx rewrites. docs/operators.md is made
 * of it. */
#define _POSIX_C_SOURCE 200809L
#include "case.h"
#include "options.h"
#include "tool.h"

#include "graph/ops.h"
#include "onnx/onnx.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CHANGES = 8, COLUMNS = 5, WIDTH = 96 };

typedef struct ops_options {
    char *backend, *tests;
    bool markdown;
} ops_options;

typedef struct ops_row {
    char cells[COLUMNS][WIDTH];
} ops_row;

static const char *const heads[] = {"operator", "on a GPU", "types on a GPU", "older forms before",
                                    "tests"};

/* ---- cells ----------------------------------------------------------------------------------- */

/* A file cannot name these. */
static bool is_internal(tsr_op op) {
    return op == TSR_OP_Custom || op == TSR_OP_FunctionCall;
}

typedef enum op_place { BY_KERNEL, AS_VIEW, BY_OTHERS, REWRITTEN, ON_CPU } op_place;

static op_place place_of(tsr_op op) {
    static const op_place places[TSR_OP_COUNT] = {
#define TSR_OP(Name, ...) [TSR_OP_##Name] = BY_KERNEL,
#define TSR_VIEW(Name, ...) [TSR_OP_##Name] = AS_VIEW,
#define TSR_FOLDED(Name, ...) [TSR_OP_##Name] = REWRITTEN,
#define TSR_FUNCTION(Name, ...) [TSR_OP_##Name] = BY_OTHERS,
#include "graph/ops.def"
    };
    return tsr_op_has(op, TSR_IS_CPU_ONLY) ? ON_CPU : places[op];
}

static const char *place_text(tsr_op op) {
    switch (place_of(op)) {
    case BY_KERNEL:
        return "kernel";
    case AS_VIEW:
        return "view or copy";
    case BY_OTHERS:
        return "by other operators";
    case REWRITTEN:
        return "before the session runs";
    default:
        return "no: on the CPU, if allowed";
    }
}

/* As src/plan/types.c reads the traits. */
static const char *types_text(tsr_op op) {
    const bool floats = !tsr_op_has(op, TSR_TAKES_NO_FLOATS),
               bools = tsr_op_has(op, TSR_TYPES_BOOL);
    const op_place place = place_of(op);
    if (place == ON_CPU)
        return "";
    if (place == BY_OTHERS)
        return "those of the others";
    if (tsr_op_has(op, TSR_TYPES_NUMBERS))
        return bools ? "all" : "floats, integers";
    if (tsr_op_has(op, TSR_TYPES_BYTES))
        return floats ? "floats, int8, uint8" : "int8, uint8";
    if (tsr_op_has(op, TSR_READS_SHAPE_ONLY))
        return "all";
    return bools ? (floats ? "floats, bool" : "bool") : "floats";
}

static void print_changes(char cell[WIDTH], const char *name) {
    int opsets[MOST_CHANGES], count = tsr_onnx_changes(name, opsets, MOST_CHANGES);
    size_t used = 0;
    *cell = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(cell + used, WIDTH - used, "%s%d", i ? ", " : "", opsets[i]);
}

/* Cases in FOLDER/NAME.json; 0 without that file. FOLDER exists. */
static tsr_status count_tests(const char *folder, const char *name, int *count) {
    char path[PATH_MAX];
    cJSON *root;
    *count = 0;
    int length = snprintf(path, sizeof path, "%s/%s.json", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the path is too long", folder);
    if (access(path, F_OK) != 0)
        return TSR_OK;
    TRY(case_file_read(path, &root));
    *count = case_file_count(root);
    cJSON_Delete(root);
    return TSR_OK;
}

static tsr_status fill_row(const ops_options *o, tsr_op op, ops_row *row) {
    const char *name = tsr_op_get_info(op)->name;
    int tests = 0;
    snprintf(row->cells[0], WIDTH, "%s", name);
    snprintf(row->cells[1], WIDTH, "%s", place_text(op));
    snprintf(row->cells[2], WIDTH, "%s", types_text(op));
    print_changes(row->cells[3], name);
    *row->cells[4] = 0;
    if (o->tests) {
        TRY(count_tests(o->tests, name, &tests));
        snprintf(row->cells[4], WIDTH, "%d", tests);
    }
    return TSR_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_row(const ops_options *o, const ops_row *row) {
    static const int widths[] = {26, 26, 20, 18, 5};
    const int columns = o->tests ? COLUMNS : COLUMNS - 1;
    for (int i = 0; i < columns; i++)
        if (o->markdown)
            printf("| %s%s", row->cells[i], *row->cells[i] ? " " : "");
        else if (i < columns - 1)
            printf("%-*s ", widths[i], row->cells[i]);
        else
            printf("%s", row->cells[i]);
    puts(o->markdown ? "|" : "");
}

static void print_heads(const ops_options *o) {
    ops_row row;
    for (int i = 0; i < COLUMNS; i++)
        snprintf(row.cells[i], WIDTH, "%s", heads[i]);
    print_row(o, &row);
    if (o->markdown)
        puts(o->tests ? "|---|---|---|---|---|" : "|---|---|---|---|");
}

/* In the order of names. */
static tsr_op next_op(const char *after) {
    tsr_op next = TSR_OP_COUNT;
    for (int op = 0; op < TSR_OP_COUNT; op++) {
        const char *name = tsr_op_get_info((tsr_op)op)->name;
        if (!is_internal((tsr_op)op) && strcmp(name, after) > 0 &&
            (next == TSR_OP_COUNT || strcmp(name, tsr_op_get_info(next)->name) < 0))
            next = (tsr_op)op;
    }
    return next;
}

static bool is_wanted(const ops_options *o, tsr_op op) {
    return !o->backend || strcmp(o->backend, "cpu") == 0 || place_of(op) != ON_CPU;
}

static tsr_status print_table(const ops_options *o) {
    int shown[TSR_DOMAIN_COUNT] = {0}, on_cpu = 0;
    ops_row row;
    print_heads(o);
    for (tsr_op op = next_op(""); op != TSR_OP_COUNT; op = next_op(tsr_op_get_info(op)->name)) {
        if (!is_wanted(o, op))
            continue;
        TRY(fill_row(o, op, &row));
        print_row(o, &row);
        shown[tsr_op_domain(op)]++;
        on_cpu += place_of(op) == ON_CPU;
    }
    printf("%s%d operators of opsets 1 to %d", o->markdown ? "\n" : "", shown[TSR_DOMAIN_ONNX],
           TSR_OPSET_MAX);
    if (on_cpu)
        printf(", %d of them on the CPU only", on_cpu);
    for (int i = TSR_DOMAIN_ONNX + 1; i < TSR_DOMAIN_COUNT; i++)
        printf(", %d of %s", shown[i], tsr_domain_name((tsr_domain_id)i));
    puts("");
    return TSR_OK;
}

static tsr_status check_backend(const char *backend) {
    static const char *const known[] = {"cpu", "gles", "webgpu"};
    for (int i = 0; backend && i < 3; i++)
        if (strcmp(backend, known[i]) == 0)
            return TSR_OK;
    return backend ? fail(TSR_ERROR_INVALID_ARGUMENT,
                          "--backend: there is no '%s', only cpu, gles and webgpu", backend)
                   : TSR_OK;
}

int cmd_ops(int argc, char **argv) {
    ops_options o = {0};
    const option items[] = {
        {"backend", 'b', "NAME", "only the operators that this backend computes", OPTION_TEXT,
         &o.backend, 0, NULL},
        {"markdown", 0, NULL, "as a table in Markdown", OPTION_FLAG, &o.markdown, 0, NULL},
        {"tests", 0, "DIR", "counts the tests in this folder, such as tests/ops", OPTION_TEXT,
         &o.tests, 0, NULL},
    };
    option_set set = {
        .usage = "tessera ops [--backend NAME] [--markdown] [--tests DIR]",
        .notes =
            "The backend cpu computes all of them; gles and webgpu compute the same. A GPU holds\n"
            "integers in floats, exactly up to 2^24. Older forms: before these opsets an "
            "operator was\nwritten in another way, and is rewritten as the file is read. "
            "Constant, Upsample and\nScatter are read, too, as constants, Resize and "
            "ScatterElements.\n"};
    OPTIONS_ADD(&set, items);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    tsr_status status = check_backend(o.backend);
    if (status == TSR_OK && o.tests && access(o.tests, R_OK) != 0)
        status = fail(TSR_ERROR_IO, "%s: %s", o.tests, strerror(errno));
    if (status == TSR_OK)
        status = print_table(&o);
    return command_exit(status);
}
