/* What the command line of `tessera convert` says. */
#include "chunks.h"
#include "convert.h"
#include "json.h"
#include "output.h"
#include "tool.h"

static tsr_status check_quantize(const convert_options *o) {
    bool quantizes = o->quantize == CONVERT_QUANTIZE_STATIC;
    if (quantizes && !o->folder)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--quantize static needs files of usual inputs: --calibrate FOLDER");
    if (!quantizes && (o->folder || o->method || o->percentile > 0))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s is for --quantize static",
                    o->folder   ? "calibrate"
                    : o->method ? "calibration"
                                : "percentile");
    if (quantizes && o->weights != TSR_WRITTEN_AS_THEY_ARE && o->weights != TSR_WRITTEN_INT8)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--quantize static has weights of int8");
    return TSR_OK;
}

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

tsr_status convert_check_options(convert_options *o, const char *model) {
    if (!o->output)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no file to write: give -o FILE");
    TRY(find_index(o, model));
    if (output_is_same(model, o->output))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is the model itself; name another file",
                    o->output);
    TRY(check_quantize(o));
    TRY(description_check_output(model, o->job.description, o->output));
    if (o->json && !json_is_stdout(o->json)) {
        TRY(description_check_output(model, o->job.description, o->json));
        TRY(output_check(o->json));
    }
    return output_check(o->output);
}

void convert_add_options(option_set *set, convert_options *o) {
    static const char *const formats[] = {"keep", "fp16", "int8", "int4", NULL};
    static const char *const ways[] = {"none", "static", NULL};
    static const char *const methods[] = {"minmax", "percentile", "entropy", NULL};
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
        {"quantize", 'q', "HOW", "activations, too: static, 8 bits, with ranges from --calibrate",
         OPTION_CHOICE, &o->quantize, 0, ways},
        {"calibrate", 0, "FOLDER",
         "files to calibrate with; of several inputs: a folder NAME in it for each", OPTION_TEXT,
         &o->folder, 0, NULL},
        {"calibration", 0, "METHOD", "ranges: minmax, percentile or entropy (minmax)",
         OPTION_CHOICE, &o->method, 0, methods},
        {"percentile", 0, "P", "numbers within a range, in percent (99.99)", OPTION_NUMBER,
         &o->percentile, 0, NULL},
        {"no-measure", 0, NULL, "do not run the model to measure errors", OPTION_FLAG,
         &o->no_measure, 0, NULL},
        {"json", 0, "FILE", "write the report as JSON", OPTION_TEXT, &o->json, 0, NULL},
    };
    OPTIONS_ADD(set, items);
    job_add_input_options(set, &o->job);
    job_add_seed_option(set, &o->job);
}
