#include "job.h"
#include "mosaic.h"
#include "output.h"
#include "text.h"
#include "tool.h"
#include "base/similar.h"

#include <stdlib.h>
#include <string.h>

typedef struct show_options {
    job_options job;
    char *layer, *output;
    int axis;      /* of channels; 0: guessed */
    int normalize; /* 0: the whole tensor, 1: each channel */
} show_options;

/* ---- names ----------------------------------------------------------------------------------- */

static tsr_status fail_unknown(const tsr_session *session, int node_count, const char *wanted) {
    tsr_similar similar = {0};
    for (int i = 0; i < node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        tsr_similar_add(&similar, wanted, node.name);
        tsr_similar_add(&similar, wanted, node.output);
    }
    char all[1024] = "";
    for (int i = 0; i < similar.count; i++)
        name_list_add(all, sizeof all, similar.names[i]);
    return fail(
        TSR_ERROR_INVALID_ARGUMENT,
        "there is no computed tensor and no node named '%s'; similar names: %s ('tessera info "
        "--layers' lists all)",
        wanted, all);
}

/* The tensor of this name, or the output of the node of this name (malloc). */
static tsr_status find_tensor(const tsr_session *session, const char *wanted, char **name) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    const char *found = NULL;
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        if (strcmp(node.output, wanted) == 0)
            found = wanted;
        else if (!found && strcmp(node.name, wanted) == 0)
            found = node.output;
    }
    for (int i = 0; !found && i < tsr_session_input_count(session); i++) {
        tsr_tensor_info input;
        TRY_LIBRARY(tsr_session_input(session, i, &input));
        if (strcmp(input.name, wanted) == 0)
            found = wanted;
    }
    if (!found)
        return fail_unknown(session, report.node_count, wanted);
    *name = malloc(strlen(found) + 1);
    if (!*name)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    strcpy(*name, found);
    return TSR_OK;
}

/* The cpu backend fuses nothing, so its plan has every node of the model. */
static tsr_status resolve_name(const job *j, const char *wanted, char **name) {
    tsr_device *device;
    tsr_session *session;
    const tsr_device_desc desc = {.backend = "cpu"};
    TRY_LIBRARY(tsr_device_create(&desc, &device));
    tsr_status status = job_session(j, device, &(tsr_session_desc){.plan_only = true}, &session);
    if (status == TSR_OK) {
        status = find_tensor(session, wanted, name);
        tsr_session_destroy(session);
    }
    tsr_device_destroy(device);
    return status;
}

/* ---- the picture ----------------------------------------------------------------------------- */

static tsr_status find_output(const tsr_session *session, const char *name, tsr_tensor_info *info) {
    int count = tsr_session_output_count(session);
    for (int i = 0; i < count; i++) {
        TRY_LIBRARY(tsr_session_output(session, i, info));
        if (strcmp(info->name, name) == 0)
            return TSR_OK;
    }
    return fail(TSR_ERROR_INVALID_ARGUMENT, "the session does not deliver tensor '%s'", name);
}

static tsr_status compute(const job *j, const char *name, tensor *result) {
    tsr_device *device;
    tsr_session *session;
    tsr_tensor_info info;
    const tsr_session_desc desc = {.extra_outputs = &name, .extra_output_count = 1};
    TRY(job_device(j->options, NULL, &device));
    tsr_status status = job_session(j, device, &desc, &session);
    if (status == TSR_OK) {
        status = job_set_inputs(j, session);
        if (status == TSR_OK && (status = tsr_session_run(session)) != TSR_OK)
            fail_library(status);
        if (status == TSR_OK)
            status = find_output(session, name, &info);
        if (status == TSR_OK)
            status = job_fetch(session, name, &info.shape, result);
        tsr_session_destroy(session);
    }
    tsr_device_destroy(device);
    return status;
}

/* Channels are last where a map is square before them, or where only the last axis has as many
 * channels as a picture. */
static int guess_axis(const tsr_shape *shape) {
    const int64_t *dim = shape->dim;
    if (shape->rank != 4)
        return 1;
    bool first = dim[1] == 1 || dim[1] == 3 || dim[1] == 4,
         last = dim[3] == 1 || dim[3] == 3 || dim[3] == 4;
    return (last && !first) || (dim[1] > 1 && dim[1] == dim[2] && dim[2] != dim[3]) ? 3 : 1;
}

/* Moves an axis to the place of the channels, in place. */
static tsr_status move_channels(tensor *t, int axis) {
    int64_t *dim = t->shape.dim, channels = dim[axis], images = dim[0], before = 1, after = 1;
    tensor moved;
    for (int i = 1; i < t->shape.rank; i++)
        *(i < axis ? &before : &after) *= i == axis ? 1 : dim[i];
    for (int i = axis; i > 1; i--)
        dim[i] = dim[i - 1];
    dim[1] = channels;
    TRY(tensor_create(t->dtype, &t->shape, &moved));
    const float *from = t->values;
    for (int64_t n = 0; n < images; n++)
        for (int64_t b = 0; b < before; b++)
            for (int64_t c = 0; c < channels; c++, from += after)
                memcpy(moved.values + ((n * channels + c) * before + b) * after, from,
                       (size_t)after * sizeof *from);
    tensor_free(t);
    *t = moved;
    return TSR_OK;
}

static tsr_status put_channels_first(const show_options *o, tensor *t) {
    int axis = o->axis ? o->axis : guess_axis(&t->shape);
    if (o->axis && o->axis >= t->shape.rank)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--axis %d: the tensor is %s", o->axis,
                    shape_label(&t->shape).text);
    if (axis == 1)
        return TSR_OK;
    printf("channels axis %d of %s%s\n", axis, shape_label(&t->shape).text,
           o->axis ? "" : ", guessed; --axis 1 shows it otherwise");
    return move_channels(t, axis);
}

static void describe(const show_options *o, const char *name, const tensor *t, const mosaic *m) {
    printf("tensor   %s %s, ", name_label(name).text, shape_label(&t->shape).text);
    if (m->low <= m->high)
        printf("from %.4g to %.4g%s\n", m->low, m->high,
               m->not_finite ? ", NaN or infinity in magenta" : "");
    else
        printf("nothing but NaN and infinity, in magenta\n");
    printf("mosaic   %d channels of %d x %d in %d columns and %d rows, %d pixel%s each way per "
           "element%s\n",
           m->channels, m->width, m->height, m->columns, m->rows, m->zoom, m->zoom == 1 ? "" : "s",
           t->shape.rank > 1 && t->shape.dim[0] > 1 ? ", first image" : "");
    printf("colours  blue below 0, dark at 0, orange above; full at |x| = %s%.4g\n",
           o->normalize ? "each channel's maximum, at most " : "", m->full);
    printf("%s: %d x %d\n", o->output, m->picture_width, m->picture_height);
}

static tsr_status draw(const show_options *o, const char *name, const tensor *t) {
    mosaic m;
    output_file out;
    TRY(mosaic_draw(t, o->normalize != 0, &m));
    tsr_status status = output_begin(o->output, &out);
    if (status == TSR_OK) {
        if (!image_write_png(out.file, m.rgb, m.picture_width, m.picture_height))
            status = fail(TSR_ERROR_IO, "%s: cannot be written", o->output);
        status = output_end(&out, status);
    }
    if (status == TSR_OK)
        describe(o, name, t, &m);
    mosaic_free(&m);
    return status;
}

static tsr_status show(const job *j, const show_options *o) {
    char *name = NULL;
    tensor result;
    TRY(output_check(o->output));
    TRY(resolve_name(j, o->layer, &name));
    tsr_status status = compute(j, name, &result);
    if (status == TSR_OK) {
        status = put_channels_first(o, &result);
        if (status == TSR_OK)
            status = draw(o, name, &result);
        tensor_free(&result);
    }
    free(name);
    return status;
}

static tsr_status check_use(const show_options *o) {
    if (!o->layer || !o->output)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--layer NAME and -o PNG are needed");
    if (!file_is(o->output, ".png"))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: a mosaic is written as .png", o->output);
    return TSR_OK;
}

int cmd_show(int argc, char **argv) {
    static const char *const normalizations[] = {"tensor", "channel", NULL};
    show_options o = {.job.own_sizes = true};
    const option items[] = {
        {"layer", 'l', "NAME", "name of the tensor, or of the node that computes it", OPTION_TEXT,
         &o.layer, 0, NULL},
        {"output", 'o', "PNG", "output picture, .png", OPTION_TEXT, &o.output, 0, NULL},
        {"axis", 0, "N", "axis of the channels: 1 for NCHW, 3 for NHWC (guessed from the shape)",
         OPTION_INT, &o.axis, 1, NULL},
        {"normalize", 0, "HOW", "scale colours per tensor or per channel (tensor)", OPTION_CHOICE,
         &o.normalize, 0, normalizations},
    };
    option_set set = {.usage = "tessera show MODEL -i [NAME=]FILE... --layer NAME -o PNG",
                      .min_arguments = 1,
                      .max_arguments = 1};
    OPTIONS_ADD(&set, items);
    job_add_backend_option(&set, &o.job);
    job_add_session_options(&set, &o.job);
    job_add_passes_option(&set, &o.job);
    job_add_input_options(&set, &o.job);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    job j;
    tsr_status status = check_use(&o);
    if (status == TSR_OK)
        status = job_open(&j, &o.job, argv[1], JOB_MISSING_REFUSED);
    if (status != TSR_OK)
        return command_exit(status);
    status = show(&j, &o);
    job_close(&j);
    return command_exit(status);
}
