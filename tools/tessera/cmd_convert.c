/* tessera convert: a model as ONNX, smaller. */
#define _POSIX_C_SOURCE 200809L
#include "chunks.h"
#include "convert.h"
#include "json.h"
#include "tool.h"

#include <stdlib.h>

/* ---- files ----------------------------------------------------------------------------------- */

static tsr_status save(const convert_options *o, const char *model, const converted_file *file) {
    return o->step ? chunks_write(o->output, model, file->bytes, file->size, o->step)
                   : converted_save(file, o->output);
}

/* ---- what is asked of the library ------------------------------------------------------------ */

/* Without weights that change there is nothing to measure. */
static bool measures(const convert_options *o) {
    return (o->weights != TSR_WRITTEN_AS_THEY_ARE || o->quantize) && !o->no_measure;
}

/* Arrays with room for each input. */
static tsr_write_desc describe(const convert_options *o, const job *j, tsr_input_shape *shapes,
                               tsr_fixed_input *inputs, calibration *samples,
                               convert_report *report) {
    tsr_write_desc desc = {.opset = o->opset,
                           .dims = j->dims,
                           .dim_count = j->dim_count,
                           .shapes = shapes,
                           .batch = o->job.batch,
                           .weights =
                               o->quantize ? TSR_WRITTEN_QDQ : (tsr_written_format)o->weights,
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
        if (input->sized)
            shapes[desc.shape_count++] = (tsr_input_shape){input->info.name, input->size};
        if (measures(o) && !o->quantize)
            job_describe_input(input, &inputs[desc.input_count++]);
    }
    if (o->quantize) {
        desc.sample = calibration_sample;
        desc.sample_user = samples;
        desc.sample_count = samples->count;
        desc.sample_names = (const char *const *)samples->names;
        desc.calibration = (tsr_calibration)o->method;
        desc.percentile = o->percentile;
        desc.no_measure = o->no_measure;
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
                         const converted_file *file, calibration *samples, convert_report *report) {
    report->opset = tsr_model_opset(made);
    report->nodes = count_nodes(made);
    report->nodes_before = count_nodes(j->model);
    report->bytes = file->size;
    report->bytes_before = j->bytes;
    report->chunks = o->step ? (file->size + o->step - 1) / o->step : 0;
    if (measures(o))
        TRY(convert_measure(j, made, samples, report));
    TRY(save(o, j->path, file));
    if (!json_is_stdout(o->json))
        convert_print(report);
    return o->json ? convert_write_json(report, o->json) : TSR_OK;
}

/* The file is read again before it gets its name. */
static tsr_status convert_to(const convert_options *o, const job *j, const tsr_write_desc *desc,
                             converted_file *file, calibration *samples, convert_report *report) {
    tsr_model *made;
    tsr_status written = converted_write(j->model, desc, file);
    if (samples && samples->message)
        return fail(samples->status, "%s", samples->message);
    TRY(written);
    progress_clear();
    if (report->out_of_memory)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    TRY_LIBRARY(tsr_model_load_memory(file->bytes, file->size, &(tsr_model_desc){.name = o->output},
                                      &made));
    tsr_status status = finish(o, j, made, file, samples, report);
    tsr_model_free(made);
    return status;
}

/* samples: NULL, or those to calibrate with. */
static tsr_status convert(const convert_options *o, const job *j, calibration *samples) {
    size_t room = (size_t)j->input_count + 1;
    converted_file file = {0};
    convert_report report = {
        .from = j->path, .to = o->output, .options = o, .samples = samples ? samples->count : 0};
    tsr_input_shape *shapes = calloc(room, sizeof *shapes);
    tsr_fixed_input *inputs = calloc(room, sizeof *inputs);
    tsr_status status = TSR_OK;
    if (shapes && inputs) {
        const tsr_write_desc desc = describe(o, j, shapes, inputs, samples, &report);
        status = convert_to(o, j, &desc, &file, samples, &report);
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

static tsr_status convert_calibrated(const convert_options *o, job *j) {
    calibration samples;
    if (!o->quantize)
        return convert(o, j, NULL);
    TRY(calibration_open(&samples, j, o->folder));
    tsr_status status = convert(o, j, &samples);
    calibration_close(&samples);
    return status;
}

int cmd_convert(int argc, char **argv) {
    convert_options o = {.job.shape_option = "fix-shape"};
    option_set set = {
        .usage = "tessera convert MODEL -o FILE [--weights FORMAT] [--opset N] [--batch N]",
        .notes =
            "Nodes of constants are folded, dead ones removed; where all sizes of inputs are "
            "known, what is\ncomputed from shapes, too, and passes of the optimizer run that "
            "leave operators of ONNX.\n\n"
            "With --weights the model runs on the CPU, with -i or random numbers, and each "
            "layer's error is\nmeasured: that of its output where only its own weights are "
            "packed, as a root of squares,\nrelative to the output.\n\n"
            "With --quantize static activations have 8 bits, too (QDQ). The model runs with the "
            "files of\nFOLDER, .png, .jpg, .npy or .pb, all of one size: for the ranges, for "
            "the layers' errors, and\nfor those of the outputs.\n",
        .min_arguments = 1,
        .max_arguments = 1};
    convert_add_options(&set, &o);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    tsr_status status = convert_check_options(&o, argv[1]);
    job j;
    if (status == TSR_OK)
        status = job_open(&j, &o.job, argv[1],
                          measures(&o) && !o.quantize ? JOB_MISSING_RANDOM : JOB_MISSING_OPEN);
    if (status == TSR_OK) {
        status = convert_calibrated(&o, &j);
        job_close(&j);
    }
    free(o.index);
    return command_exit(status);
}
