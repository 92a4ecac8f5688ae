/* tessera convert: a model as ONNX, smaller. */
#define _POSIX_C_SOURCE 200809L
#include "chunks.h"
#include "convert.h"
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ----------------------------------------------------------------------------------- */

static tsr_status find_index(convert_options *o, const char *model) {
    if (!o->chunk && chunks_are(o->output))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: .json is an index of chunks: give their size with --chunk", o->output);
    if (!o->chunk)
        return TSR_OK;
    TRY(chunks_parse_size(o->chunk, &o->step));
    TRY(chunks_index_of(o->output, model, &o->index));
    o->output = o->index;
    return TSR_OK;
}

static tsr_status check_paths(convert_options *o, const char *model) {
    if (!o->output)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no file to write: give -o FILE");
    TRY(find_index(o, model));
    if (output_is_same(model, o->output))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is the model itself; name another file",
                    o->output);
    if (o->json)
        TRY(output_check(o->json));
    return output_check(o->output);
}

static tsr_status save(const convert_options *o, const char *model, const converted_file *file) {
    const char *path = o->output;
    output_file out;
    if (o->step)
        return chunks_write(path, model, file->bytes, file->size, o->step);
    TRY(output_begin(path, &out));
    tsr_status status =
        fwrite(file->bytes, 1, file->size, out.file) == file->size
            ? TSR_OK
            : fail(TSR_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return output_end(&out, status);
}

/* ---- what is asked of the library ------------------------------------------------------------ */

/* Without weights that change there is nothing to measure. */
static bool measures(const convert_options *o) {
    return o->weights != TSR_WRITTEN_AS_THEY_ARE && !o->no_measure;
}

/* Arrays with room for each input. */
static tsr_write_desc describe(const convert_options *o, const job *j, tsr_input_shape *shapes,
                               tsr_fixed_input *inputs, convert_report *report) {
    tsr_write_desc desc = {.opset = o->opset,
                           .dims = j->dims,
                           .dim_count = j->dim_count,
                           .shapes = shapes,
                           .batch = o->job.batch,
                           .weights = (tsr_written_format)o->weights,
                           .block = o->block,
                           .zero_points = o->zero_points,
                           .keep = (const char *const *)o->keep.items,
                           .keep_count = o->keep.count,
                           .inputs = inputs,
                           .tolerance = o->tolerance,
                           .layer = convert_add_layer,
                           .layer_user = report,
                           .progress = {progress_of_call, (void *)j->path}};
    for (int i = 0; i < j->input_count; i++) {
        const job_input *input = &j->inputs[i];
        const tsr_tensor_info *info = &input->info;
        if (input->sized)
            shapes[desc.shape_count++] = (tsr_input_shape){info->name, input->size};
        if (!measures(o))
            continue;
        inputs[desc.input_count++] =
            input->packed
                ? (tsr_fixed_input){info->name, info->dtype, info->shape, input->packed}
                : (tsr_fixed_input){info->name, TSR_DTYPE_F32, info->shape, input->tensor.values};
    }
    return desc;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int count_nodes(const tsr_model *model) {
    int total = 0, count;
    for (int i = 0; tsr_model_op(model, i, NULL, &count); i++)
        total += count;
    return total;
}

static tsr_status finish(const convert_options *o, const job *j, const tsr_model *made,
                         const converted_file *file, convert_report *report) {
    report->opset = tsr_model_opset(made);
    report->nodes = count_nodes(made);
    report->nodes_before = count_nodes(j->model);
    report->bytes = file->size;
    report->bytes_before = j->bytes;
    report->chunks = o->step ? (file->size + o->step - 1) / o->step : 0;
    if (measures(o))
        TRY(convert_measure(j, made, report));
    TRY(save(o, j->path, file));
    convert_print(report);
    return o->json ? convert_write_json(report, o->json) : TSR_OK;
}

/* The file is read again before it gets its name. */
static tsr_status convert_to(const convert_options *o, const job *j, const tsr_write_desc *desc,
                             converted_file *file, convert_report *report) {
    tsr_model *made;
    TRY(converted_write(j->model, desc, file));
    progress_clear();
    if (report->out_of_memory)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    TRY_LIBRARY(tsr_model_load_memory(file->bytes, file->size, &(tsr_model_desc){.name = o->output},
                                      &made));
    tsr_status status = finish(o, j, made, file, report);
    tsr_model_free(made);
    return status;
}

static tsr_status convert(const convert_options *o, const job *j) {
    size_t room = (size_t)j->input_count + 1;
    converted_file file = {0};
    convert_report report = {.from = j->path, .to = o->output};
    tsr_input_shape *shapes = calloc(room, sizeof *shapes);
    tsr_fixed_input *inputs = calloc(room, sizeof *inputs);
    tsr_status status = TSR_OK;
    if (shapes && inputs) {
        const tsr_write_desc desc = describe(o, j, shapes, inputs, &report);
        status = convert_to(o, j, &desc, &file, &report);
    } else {
        status = fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    }
    progress_clear();
    convert_report_free(&report);
    free(file.bytes);
    free(shapes);
    free(inputs);
    return status;
}

static void add_options(option_set *set, convert_options *o) {
    static const char *const formats[] = {"keep", "fp16", "int8", "int4", NULL};
    const option items[] = {
        {"output", 'o', "FILE", "the ONNX file to write", OPTION_TEXT, &o->output, 0, NULL},
        {"chunk", 0, "SIZE", "write chunks of 4M, 512K .., and an index: -o FOLDER or INDEX.json",
         OPTION_TEXT, &o->chunk, 0, NULL},
        {"opset", 0, "N", "ONNX's opset: 13 to 27 (the model's, or the first that will do)",
         OPTION_INT, &o->opset, 1, NULL},
        {"batch", 0, "N", "first size of inputs that leave it open", OPTION_INT, &o->job.batch, 1,
         NULL},
        {"dim", 0, "NAME=N", "size of a symbolic dimension; repeatable", OPTION_LIST, &o->job.dims,
         0, NULL},
        {"fix-shape", 0, "NAME=N,N..",
         "shape of an input, where the model has open sizes; repeatable", OPTION_LIST,
         &o->job.shapes, 0, NULL},
        {"weights", 'w', "FORMAT", "weights of layers: keep, fp16, int8 or int4 (keep)",
         OPTION_CHOICE, &o->weights, 0, formats},
        {"block", 0, "N", "int4: weights that share a scale: 32, 64 or 128 (32)", OPTION_INT,
         &o->block, 1, NULL},
        {"zero-points", 0, NULL, "int8 and int4 with a zero point beside each scale", OPTION_FLAG,
         &o->zero_points, 0, NULL},
        {"keep", 0, "NODE", "a layer whose weights stay as they are; repeatable", OPTION_LIST,
         &o->keep, 0, NULL},
        {"tolerance", 0, "E", "layers whose outputs have a larger relative error stay as they are",
         OPTION_NUMBER, &o->tolerance, 0, NULL},
        {"no-measure", 0, NULL, "do not run the model to measure errors", OPTION_FLAG,
         &o->no_measure, 0, NULL},
        {"json", 0, "FILE", "write the report as JSON", OPTION_TEXT, &o->json, 0, NULL},
    };
    OPTIONS_ADD(set, items);
    job_add_input_options(set, &o->job);
    job_add_seed_option(set, &o->job);
}

int cmd_convert(int argc, char **argv) {
    convert_options o = {.job.shape_option = "fix-shape"};
    option_set set = {
        .usage = "tessera convert MODEL -o FILE [--weights FORMAT] [--opset N] [--batch N]",
        .notes = "Nodes of constants are folded, dead ones removed; where all sizes of inputs are "
                 "known, what is\ncomputed from shapes, too, and passes of the optimizer run that "
                 "leave operators of ONNX.\n\n"
                 "With --weights the model runs on the CPU, with -i or random numbers, and each "
                 "layer's error is\nmeasured: that of its output where only its own weights are "
                 "packed, as a root of squares,\nrelative to the output.\n",
        .min_arguments = 1,
        .max_arguments = 1};
    add_options(&set, &o);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    tsr_status status = check_paths(&o, argv[1]);
    job j;
    if (status == TSR_OK)
        status =
            job_open(&j, &o.job, argv[1], measures(&o) ? JOB_MISSING_RANDOM : JOB_MISSING_OPEN);
    if (status == TSR_OK) {
        status = convert(&o, &j);
        job_close(&j);
    }
    free(o.index);
    return command_exit(status);
}
