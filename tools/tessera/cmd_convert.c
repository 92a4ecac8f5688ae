/* tessera convert: a model as ONNX, smaller. */
#define _POSIX_C_SOURCE 200809L
#include "converted.h"
#include "job.h"
#include "output.h"
#include "text.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct convert_options {
    job_options job;
    char *output;
    int opset, batch;
} convert_options;

/* ---- files ----------------------------------------------------------------------------------- */

static tsr_status check_paths(const convert_options *o, const char *model) {
    struct stat from, to;
    if (!o->output)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no file to write: give -o OUT");
    if (stat(model, &from) == 0 && stat(o->output, &to) == 0 && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is the model itself; name another file",
                    o->output);
    return output_check(o->output);
}

static tsr_status save(const char *path, const converted_file *file) {
    output_file out;
    TRY(output_begin(path, &out));
    tsr_status status =
        fwrite(file->bytes, 1, file->size, out.file) == file->size
            ? TSR_OK
            : fail(TSR_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return output_end(&out, status);
}

/* ---- the report ------------------------------------------------------------------------------ */

static int count_nodes(const tsr_model *model) {
    int total = 0, count;
    for (int i = 0; tsr_model_op(model, i, NULL, &count); i++)
        total += count;
    return total;
}

static uint64_t size_of(const char *path) {
    struct stat place;
    return stat(path, &place) == 0 ? (uint64_t)place.st_size : 0;
}

static void print_totals(const convert_options *o, const job *j, const tsr_model *made,
                         const converted_file *file) {
    printf("%s: opset %d, %d nodes (%d before), %s (%s before)\n", o->output, tsr_model_opset(made),
           count_nodes(made), count_nodes(j->model), bytes_label(file->size).text,
           bytes_label(size_of(j->path)).text);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The file is read again before it gets its name. */
static tsr_status convert_to(const convert_options *o, const job *j, const tsr_write_desc *desc,
                             converted_file *file) {
    tsr_model *made;
    TRY(converted_write(j->model, desc, file));
    TRY_LIBRARY(tsr_model_load_memory(file->bytes, file->size, &(tsr_model_desc){.name = o->output},
                                      &made));
    tsr_status status = save(o->output, file);
    if (status == TSR_OK)
        print_totals(o, j, made, file);
    tsr_model_free(made);
    return status;
}

static tsr_status convert(const convert_options *o, const job *j) {
    converted_file file = {0};
    tsr_input_shape *shapes = calloc((size_t)j->input_count + 1, sizeof *shapes);
    tsr_write_desc desc = {.opset = o->opset,
                           .batch = o->batch,
                           .dims = j->dims,
                           .dim_count = j->dim_count,
                           .shapes = shapes};
    for (int i = 0; shapes && i < j->input_count; i++)
        if (j->inputs[i].shaped)
            shapes[desc.shape_count++] =
                (tsr_input_shape){j->inputs[i].info.name, j->inputs[i].info.shape};
    tsr_status status = shapes ? convert_to(o, j, &desc, &file)
                               : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    progress_clear();
    free(file.bytes);
    free(shapes);
    return status;
}

int cmd_convert(int argc, char **argv) {
    convert_options o = {0};
    const option items[] = {
        {"output", 'o', "FILE", "the ONNX file to write", OPTION_TEXT, &o.output, 0, NULL},
        {"opset", 0, "N", "ONNX's opset: 13 to 27 (the model's, or 13)", OPTION_INT, &o.opset, 1,
         NULL},
        {"batch", 0, "N", "first size of inputs that leave it open", OPTION_INT, &o.batch, 1, NULL},
        {"dim", 0, "NAME=N", "size of a symbolic dimension; repeatable", OPTION_LIST, &o.job.dims,
         0, NULL},
        {"fix-shape", 0, "NAME=N,N..",
         "shape of an input, where the model has open sizes; repeatable", OPTION_LIST,
         &o.job.shapes, 0, NULL},
    };
    option_set set = {.usage = "tessera convert MODEL -o FILE [--opset N] [--batch N] [--dim "
                               "NAME=N]... [--fix-shape NAME=N,N..]...",
                      .min_arguments = 1,
                      .max_arguments = 1};
    OPTIONS_ADD(&set, items);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    tsr_status status = check_paths(&o, argv[1]);
    job j;
    if (status == TSR_OK)
        status = job_open(&j, &o.job, argv[1], JOB_MISSING_OPEN);
    if (status != TSR_OK)
        return command_exit(status);
    status = convert(&o, &j);
    job_close(&j);
    return command_exit(status);
}
