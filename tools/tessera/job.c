#define _POSIX_C_SOURCE 200809L
#include "job.h"
#include "chunks.h"
#include "source.h"
#include "tiling.h"
#include "text.h"
#include "tool.h"
#include "base/similar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void job_add_backend_option(option_set *set, job_options *o) {
    const option items[] = {
        {"backend", 'b', "NAME", "backend: gles, webgpu or cpu (gles)", OPTION_TEXT, &o->backend, 0,
         NULL},
    };
    OPTIONS_ADD(set, items);
}

void job_add_gpu_options(option_set *set, job_options *o) {
    const option items[] = {
        {"gpu", 0, "N", "use the N-th GPU of 'tessera devices'", OPTION_INT, &o->gpu, 1, NULL},
        {"adapter", 0, "NAME", "use the WebGPU adapter whose name contains NAME", OPTION_TEXT,
         &o->adapter, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

void job_add_device_options(option_set *set, job_options *o) {
    job_add_gpu_options(set, o);
    const option items[] = {
        {"allow-cpu-fallback", 0, NULL, "run operators that the backend lacks on the CPU",
         OPTION_FLAG, &o->cpu_fallback, 0, NULL},
        {"poison", 0, NULL, "debugging: fill GPU memory that must not be read with NaN",
         OPTION_FLAG, &o->poison, 0, NULL},
        {"max-texture-size", 0, "N", "debugging: gles with textures of at most N x N texels",
         OPTION_INT, &o->texture_size, 1, NULL},
        {"max-draw-buffers", 0, "N", "debugging: gles with at most N render targets", OPTION_INT,
         &o->draw_buffers, 1, NULL},
        {"max-block-bytes", 0, "N", "debugging: gles with uniform blocks of at most N bytes",
         OPTION_INT, &o->block_bytes, 1, NULL},
        {"no-float-targets", 0, NULL, "debugging: gles as if nothing rendered to floats",
         OPTION_FLAG, &o->no_float_targets, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

void job_add_storage_options(option_set *set, job_options *o) {
    static const char *const precisions[] = {"fp32", "fp16", "auto", NULL};
    static const char *const weights[] = {"auto", "fp32", "fp16", "int8", "int4", NULL};
    const option items[] = {
        {"precision", 'p', "P",
         "tensor storage on a GPU: fp32, fp16 or auto, fp16 but for what needs fp32 (fp32)",
         OPTION_CHOICE, &o->precision, 0, precisions},
        {"weights", 0, "TYPE",
         "storage of weights on a GPU: fp32, fp16, int8, int4 or auto, as --precision says and in "
         "int8 or int4 what the model has so (auto)",
         OPTION_CHOICE, &o->weights, 0, weights},
    };
    OPTIONS_ADD(set, items);
}

void job_add_session_options(option_set *set, job_options *o) {
    job_add_storage_options(set, o);
    const option items[] = {
        {"tune", 0, "MS", "time budget for autotuning, in ms (0; bench: 1000 on a GPU)", OPTION_INT,
         &o->tune_ms, 1, NULL},
        {"no-tune", 0, NULL, "use estimates, ignore earlier measurements", OPTION_FLAG, &o->no_tune,
         0, NULL},
        {"max-memory", 0, "MIB",
         "refuse models, tensors and weights of more (the machine's memory)", OPTION_INT,
         &o->most_memory, 1, NULL},
        {"max-work", 0, "N",
         "operations on constants before the first run; the rest run later (2^28)", OPTION_NUMBER,
         &o->most_work, 0, NULL},
        {"custom-ops", 0, "FILE",
         "operators that the model uses: a shared object, or a text file of shader bodies",
         OPTION_TEXT, &o->custom_ops, 0, NULL},
        {"dim", 0, "NAME=N", "size of a symbolic dimension; repeatable", OPTION_LIST, &o->dims, 0,
         NULL},
        {"shape", 0, "NAME=N,N..",
         "shape of an input, also where the model fixes another one that its layers do not need; "
         "repeatable",
         OPTION_LIST, &o->shapes, 0, NULL},
    };
    OPTIONS_ADD(set, items);
    job_add_device_options(set, o);
}

void job_add_seed_option(option_set *set, job_options *o) {
    const option items[] = {
        {"seed", 0, "N", "seed of random inputs, used where no file is given (0)", OPTION_INT,
         &o->seed, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

void job_add_passes_option(option_set *set, job_options *o) {
    const option items[] = {
        {"passes", 0, "LIST",
         "optimizer passes: all, none, 'a,b' or '-a,-b' (all); 'info --passes' lists them",
         OPTION_TEXT, &o->passes, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

void job_add_file_options(option_set *set, job_options *o) {
    const option items[] = {
        {"description", 0, "FILE",
         "what the model wants and means, as JSON, or none (MODEL.json beside it, its metadata)",
         OPTION_TEXT, &o->description, 0, NULL},
        {"allow-nan", 0, NULL, "accept inputs with NaN or infinity", OPTION_FLAG, &o->allow_nan, 0,
         NULL},
    };
    OPTIONS_ADD(set, items);
    image_add_options(set, &o->image);
    o->image.channel_order = o->image.layout = o->image.fit = -1; /* not given */
}

void job_add_input_options(option_set *set, job_options *o) {
    const option items[] = {
        {"input", 'i', "[NAME=]FILE",
         "input file: .npy, .pb or a picture: .png, .jpg, .gif, .bmp, .ppm, .pgm, .tga, .webp; "
         "repeatable",
         OPTION_LIST, &o->inputs, 0, NULL},
    };
    OPTIONS_ADD(set, items);
    job_add_file_options(set, o);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int find_name(int count, const char *const *names, const char *name, size_t length) {
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return i;
    return -1;
}

static tsr_status fail_name(const char *what, const char *name, size_t length, int count,
                            const char *const *names) {
    char wanted[256], all[1024] = "";
    tsr_similar similar = {0};
    snprintf(wanted, sizeof wanted, "%.*s", (int)length, name);
    for (int i = 0; i < count; i++)
        tsr_similar_add(&similar, wanted, names[i]);
    for (int i = 0; i < similar.count; i++)
        name_list_add(all, sizeof all, similar.names[i]);
    return fail(TSR_ERROR_INVALID_ARGUMENT, "the model has no %s '%.*s'; %s: %s", what, (int)length,
                name, count > similar.count ? "the most similar" : "it has", all);
}

tsr_status job_find(const char *what, const char *name, size_t length, int count,
                    const char *const *names, int *index) {
    *index = find_name(count, names, name, length);
    return *index < 0 ? fail_name(what, name, length, count, names) : TSR_OK;
}

tsr_status job_assign(const char *what, const text_list *files, int count, const char *const *names,
                      const char **paths) {
    for (int i = 0; i < count; i++)
        paths[i] = NULL;
    bool unnamed[TEXT_LIST_MAX] = {false};
    for (int f = 0; f < files->count; f++) {
        const char *text = files->items[f], *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) : 0;
        int index = equals ? find_name(count, names, text, length) : -1;
        unnamed[f] = index < 0;
        if (index < 0 && equals && access(text, F_OK) != 0)
            return fail_name(what, text, length, count, names);
        if (index >= 0 && paths[index])
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s '%s' is given twice", what, names[index]);
        if (index >= 0)
            paths[index] = equals + 1;
    }
    for (int f = 0, next = 0; f < files->count; f++) {
        if (!unnamed[f])
            continue;
        while (next < count && paths[next])
            next++;
        if (next == count)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the model has only %d %s%s",
                        files->items[f], count, what, count == 1 ? "" : "s");
        paths[next] = files->items[f];
    }
    return TSR_OK;
}

/* A single file without a name is for the only input that is not a parameter. */
static int lone_input(const job *j, const text_list *files) {
    int found = -1;
    for (int i = 0; i < j->input_count; i++) {
        if (j->inputs[i].fixed)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    bool unnamed = files->count == 1 && !strchr(files->items[0], '=');
    return unnamed ? found : -1;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static tsr_status parse_size(const char *option, const char *text, int64_t *size) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s: '%s' is not a size", option, text);
    *size = value;
    return TSR_OK;
}

/* Ends the name at its last '=' and returns what follows, NULL if there is no name or no '='. */
static char *split_name(char *text) {
    char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return NULL;
    *equals = '\0';
    return equals + 1;
}

static bool apply_dim(job *j, const tsr_dim_binding *dim) {
    bool used = false;
    for (int i = 0; i < j->input_count; i++) {
        tsr_tensor_info *info = &j->inputs[i].info;
        for (int d = 0; d < info->shape.rank; d++)
            if (info->dim_name[d] && strcmp(info->dim_name[d], dim->name) == 0) {
                info->shape.dim[d] = dim->size;
                used = true;
            }
    }
    return used;
}

static tsr_status parse_dims(job *j, const text_list *dims) {
    for (int i = 0; i < dims->count; i++) {
        tsr_dim_binding *dim = &j->dims[j->dim_count++];
        char *size = split_name(dims->items[i]);
        if (!size)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "--dim expects NAME=N, not '%s'",
                        dims->items[i]);
        dim->name = dims->items[i];
        TRY(parse_size("dim", size, &dim->size));
        if (!apply_dim(j, dim))
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: no input has a dimension named '%s'",
                        j->path, dim->name);
    }
    return TSR_OK;
}

static bool shape_agrees(const tsr_shape *declared, const tsr_shape *shape) {
    if (declared->rank < 0)
        return true;
    if (declared->rank != shape->rank)
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (declared->dim[i] >= 0 && declared->dim[i] != shape->dim[i])
            return false;
    return true;
}

static const char *shape_option(const job *j) {
    return j->options->shape_option ? j->options->shape_option : "shape";
}

static tsr_status parse_shape(job *j, char *text, int count, const char *const *names) {
    char *sizes = split_name(text);
    const char *option = shape_option(j);
    if (!sizes)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s expects NAME=N,N.., not '%s'", option, text);
    int index;
    TRY(job_find("input", text, strlen(text), count, names, &index));
    text_list list;
    tsr_shape shape = {0};
    if (!text_split(sizes, &list) || list.count > TSR_MAX_RANK)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s %s: more than %d dimensions", option, text,
                    TSR_MAX_RANK);
    for (shape.rank = 0; shape.rank < list.count; shape.rank++)
        TRY(parse_size(option, list.items[shape.rank], &shape.dim[shape.rank]));
    const tsr_shape *declared = &j->inputs[index].info.shape;
    j->resized = j->resized || !shape_agrees(declared, &shape);
    j->inputs[index].info.shape = j->inputs[index].size = shape;
    j->inputs[index].shaped = j->inputs[index].sized = true;
    return TSR_OK;
}

/* An input is shaped by it if nothing else is open. */
static void apply_batch(job *j, int64_t batch) {
    for (int i = 0; i < j->input_count; i++) {
        tsr_shape *shape = &j->inputs[i].info.shape;
        if (shape->rank < 1 || shape->dim[0] >= 0)
            continue;
        shape->dim[0] = batch;
        j->inputs[i].shaped |= tsr_shape_count(shape) >= 0;
    }
}

/* The size of pictures that the description tells, where it is still open. */
static void apply_described_size(job_input *input, const described_tensor *d) {
    tsr_shape *shape = &input->info.shape;
    image_view view;
    if (!d->size[0] || !image_view_of(shape, &input->image, &view))
        return;
    int64_t *height = &shape->dim[shape->rank - 2 - view.channels_last], *width = height + 1;
    *height = *height < 0 ? d->size[1] : *height;
    *width = *width < 0 ? d->size[0] : *width;
    input->shaped |= tsr_shape_count(shape) >= 0;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static tsr_status check_finite(const tensor *t, const char *name, const char *path) {
    size_t at = tensor_find_non_finite(t);
    if (at == t->count)
        return TSR_OK;
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: input '%s' holds %s at %s; --allow-nan accepts it",
                path, name, isnan(t->values[at]) ? "NaN" : "infinity",
                position_label(&t->shape, at).text);
}

static tsr_status check_suits(const job *j, const tsr_tensor_info *info, const char *path,
                              const tensor *t) {
    if (!shape_agrees(&info->shape, &t->shape))
        return fail(TSR_ERROR_SHAPE, "%s: is %s, but input '%s' is %s", path,
                    shape_label(&t->shape).text, info->name, info_label(info).text);
    return j->options->allow_nan ? TSR_OK : check_finite(t, info->name, path);
}

tsr_status job_load(const job *j, const job_input *input, const char *path, tensor *made,
                    image_side *side) {
    *side = (image_side){0};
    if (picture_is_file(path))
        TRY(image_load(path, &input->info, &input->image, made, side));
    else
        TRY(tensor_load(path, made));
    tsr_status status = check_suits(j, &input->info, path, made);
    if (status != TSR_OK) {
        tensor_free(made);
        image_side_free(side);
    }
    return status;
}

static tsr_status load_input(job *j, job_input *input, const char *path) {
    tsr_tensor_info *info = &input->info;
    if (j->options->reread)
        TRY(file_check_regular(path));
    if (picture_is_file(path) && j->options->own_sizes) {
        int width, height;
        TRY(picture_size(path, input->image.most_megapixels, &width, &height));
        TRY(tiling_open_size(j, input, width, height));
    }
    TRY(job_load(j, input, path, &input->tensor, &input->side));
    input->given = true;
    input->path = path;
    info->shape = input->tensor.shape;
    input->shaped = true;
    if (input->fixed)
        return tensor_pack(&input->tensor, info->dtype, info->name, &input->packed);
    return TSR_OK;
}

/* splitmix64, its upper bits as a number in [-1, 1). */
static float random_value(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (float)((z ^ z >> 31) >> 40) / 8388608.0f - 1.0f;
}

/* Whole numbers that every integer type has. */
static float random_element(tsr_dtype dtype, float x) {
    if (!dtype_is_integer(dtype))
        return x;
    return dtype == TSR_DTYPE_BOOL ? (float)(x > 0) : floorf((x + 1) * 64);
}

static tsr_status make_random(const job *j, job_input *input, int index) {
    tsr_tensor_info *info = &input->info;
    bool open = false;
    for (int i = 0; i < info->shape.rank; i++)
        open |= info->shape.dim[i] < 0;
    if (open || info->shape.rank < 0)
        return fail(TSR_ERROR_SHAPE,
                    "input '%s' is %s: give its sizes with --dim NAME=N or --%s "
                    "%s=N,N.., or a file with -i",
                    info->name, info_label(info).text, shape_option(j), info->name);
    TRY(tensor_create(TSR_DTYPE_F32, &info->shape, &input->tensor));
    uint64_t state = (uint64_t)j->options->seed * 1000003u + (uint64_t)index;
    for (size_t at = 0; at < input->tensor.count; at++)
        input->tensor.values[at] = random_element(info->dtype, random_value(&state));
    input->given = true;
    return TSR_OK;
}

static tsr_status fill_missing(const job *j, job_missing missing) {
    for (int i = 0; i < j->input_count; i++) {
        job_input *input = &j->inputs[i];
        if (input->given || input->many || missing == JOB_MISSING_OPEN)
            continue;
        bool refused = missing == JOB_MISSING_REFUSED && !j->options->random;
        if (refused || input->fixed)
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "no file for input '%s' (%s %s); give -i %s=FILE", input->info.name,
                        tsr_dtype_name(input->info.dtype), info_label(&input->info).text,
                        input->info.name);
        TRY(make_random(j, input, i));
    }
    return TSR_OK;
}

/* What the command line leaves open is the description's; the rest have defaults. */
static tsr_status choose_images(job *j, job_options *o) {
    const description *d = &j->description;
    j->output_images = calloc((size_t)d->output_count + 1, sizeof *j->output_images);
    if (!j->output_images)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < j->input_count; i++) {
        j->inputs[i].image = o->image;
        description_fill(&d->inputs[i], false, &j->inputs[i].image);
    }
    for (int i = 0; i < d->output_count; i++) {
        j->output_images[i] = o->image;
        description_fill(&d->outputs[i], true, &j->output_images[i]);
    }
    description_fill(NULL, true, &o->image);
    return TSR_OK;
}

static tsr_status load_inputs(job *j, job_options *o, const char **names, const char **paths) {
    TRY(choose_images(j, o));
    for (int i = 0; i < j->input_count; i++) {
        job_input *input = &j->inputs[i];
        TRY_LIBRARY(tsr_model_input(j->model, i, &input->info));
        input->fixed = tsr_model_input_is_parameter(j->model, i);
        names[i] = input->info.name;
    }
    TRY(parse_dims(j, &o->dims));
    for (int i = 0; i < o->shapes.count; i++)
        TRY(parse_shape(j, o->shapes.items[i], j->input_count, names));
    if (o->batch)
        apply_batch(j, o->batch);
    for (int i = 0; i < j->input_count; i++)
        apply_described_size(&j->inputs[i], &j->description.inputs[i]);
    TRY(job_assign("input", &o->inputs, j->input_count, names, paths));
    int lone = lone_input(j, &o->inputs);
    if (lone >= 0) {
        paths[0] = NULL;
        paths[lone] = o->inputs.items[0];
    }
    /* Pictures last: what sizes the model takes may depend on the others. */
    for (int i = 0; i < 2 * j->input_count; i++) {
        const char *path = paths[i % j->input_count];
        job_input *input = &j->inputs[i % j->input_count];
        bool now = path && picture_is_file(path) == (i >= j->input_count);
        if (now && o->many && source_is_many(path))
            input->many = path;
        else if (now)
            TRY(load_input(j, input, path));
    }
    return TSR_OK;
}

/* Once all inputs are there. */
static tsr_status choose_tiles(job *j) {
    for (int i = 0; i < j->input_count; i++) {
        job_input *input = &j->inputs[i];
        tsr_status status = TSR_OK;
        if (input->given)
            status = tiling_choose(j, input, input->path ? input->path : input->info.name);
        if (status != TSR_OK)
            return input->path ? fail(status, "%s: %s", input->path, failure()) : status;
    }
    return TSR_OK;
}

static tsr_status load_model(job *j, const tsr_model_desc *desc) {
    struct stat place;
    if (chunks_are(j->path))
        return chunks_load(j->path, desc, &j->model, &j->bytes);
    TRY_LIBRARY(tsr_model_load(j->path, desc, &j->model));
    j->bytes = stat(j->path, &place) == 0 ? (uint64_t)place.st_size : 0;
    return TSR_OK;
}

static tsr_status open_model(job *j, job_options *o, job_missing missing) {
    TRY(image_options_parse(&o->image));
    if (o->custom_ops)
        TRY(custom_ops_open(o->custom_ops, &j->custom));
    const tsr_model_desc desc = {.progress = {progress_of_call, (void *)j->path},
                                 .custom_ops = j->custom.ops,
                                 .custom_op_count = j->custom.count,
                                 .max_bytes = (uint64_t)o->most_memory << 20,
                                 .max_work = (uint64_t)fmin(o->most_work, 1e18)};
    tsr_status status = load_model(j, &desc);
    progress_clear();
    TRY(status);
    TRY(description_open(j->path, o->description, j->model, &j->description));
    j->input_count = tsr_model_input_count(j->model);
    size_t room = j->input_count ? (size_t)j->input_count : 1;
    j->inputs = calloc(room, sizeof *j->inputs);
    const char **names = calloc(room * 2, sizeof *names);
    status = j->inputs && names ? load_inputs(j, o, names, names + room)
                                : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    free(names);
    if (status == TSR_OK)
        status = fill_missing(j, missing);
    return status == TSR_OK ? choose_tiles(j) : status;
}

tsr_status job_open(job *made, job_options *options, const char *model_path, job_missing missing) {
    *made = (job){.options = options, .path = model_path};
    tsr_status status = open_model(made, options, missing);
    if (status != TSR_OK)
        job_close(made);
    return status;
}

void job_close(job *j) {
    for (int i = 0; j->inputs && i < j->input_count; i++) {
        tensor_free(&j->inputs[i].tensor);
        image_side_free(&j->inputs[i].side);
        free(j->inputs[i].packed);
    }
    free(j->inputs);
    tiling_free(j->tiling);
    free(j->output_images);
    description_free(&j->description);
    tsr_model_free(j->model);
    custom_ops_close(&j->custom);
    *j = (job){0};
}

bool job_start(job *made, option_set *set, int argc, char **argv, job_options *options,
               job_missing missing, int *exit_code) {
    int arguments;
    if (!options_parse(set, argc, argv, &arguments, exit_code))
        return false;
    tsr_status status = job_open(made, options, argv[1], missing);
    *exit_code = command_exit(status);
    return status == TSR_OK;
}
