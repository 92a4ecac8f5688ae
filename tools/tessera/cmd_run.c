#include "batch.h"
#include "output.h"
#include "single.h"
#include "text.h"
#include "tool.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsr_status output_names(const tsr_model *model, int count, const char **names) {
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(model, i, &info));
        names[i] = info.name;
    }
    return TSR_OK;
}

/* Each file is used for one output, or for the drawing, only. drawing: NULL: there is none. */
static tsr_status check_distinct(int count, const char **paths, const char *drawing) {
    for (int i = 0; i < count; i++)
        if (paths[i] && drawing && output_is_same_place(paths[i], drawing))
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: named for an output and for the drawing",
                        drawing);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (paths[i] && paths[k] && output_is_same_place(paths[k], paths[i]))
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: named for two outputs", paths[i]);
    return TSR_OK;
}

typedef struct run_options {
    single_options single;
    text_list outputs;
    char *shard, *frame, *labels;
    int format; /* of formats; 0: none was given */
    bool asked; /* what is told was asked for, by --labels or --top */
    int video;
    bool resume;
} run_options;

static const char *const formats[] = {"auto", "npy", "txt", "csv", "json", "png", "jpg", NULL};

/* ---- folders --------------------------------------------------------------------------------- */

/* A file in the folder, or any name of one where name is "*" (malloc). */
static char *path_in(const char *folder, const char *name, const char *format) {
    size_t length = strlen(folder), room = length + strlen(name) + strlen(format) + 3;
    char *path = malloc(room);
    if (!path)
        return NULL;
    bool slash = length && folder[length - 1] == '/';
    snprintf(path, room, "%s%s%s.%s", folder, slash ? "" : "/", name, format);
    for (char *c = path + length + !slash; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.*", *c))
            *c = '_';
    return path;
}

/* The folder that is to get every output, or NULL. */
static const char *folder_for_all(const text_list *outputs) {
    const char *path = outputs->count == 1 ? outputs->items[0] : NULL;
    return path && output_is_folder(path) && !output_is_tensor(path) ? path : NULL;
}

/* With --draw the output without a name is the drawing, none of the model's outputs. */
static tsr_status take_drawing(run_options *o) {
    text_list *list = &o->outputs;
    int found = -1;
    for (int i = 0; i < list->count && o->single.draw.kind; i++)
        if (!strchr(list->items[i], '='))
            found = found < 0 ? i : list->count;
    if (!o->single.draw.kind)
        return o->single.draw.score < 0 ? TSR_OK
                                        : fail(TSR_ERROR_INVALID_ARGUMENT, "--score is for --draw");
    if (found < 0 || found == list->count)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--draw: one -o without an output's name is the drawing, -o FILE.png");
    o->single.draw.path = list->items[found];
    list->count--;
    for (int i = found; i < list->count; i++)
        list->items[i] = list->items[i + 1];
    return TSR_OK;
}

/* One run: a file for each output. */
static tsr_status fill_folder(const char *folder, const char *format, int count,
                              const char *const *names, const char **paths, char **made) {
    for (int i = 0; i < count; i++) {
        paths[i] = made[i] = path_in(folder, names[i], format);
        if (!made[i])
            return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    }
    return TSR_OK;
}

/* Many runs: folders get files of the format that was asked for. */
static tsr_status set_formats(const char *format, int count, const char **paths, char **made) {
    for (int i = 0; i < count; i++) {
        if (!paths[i] || strcmp(paths[i], "-") == 0 || strchr(paths[i], '*') ||
            file_is(paths[i], ".y4m") || output_is_tensor(paths[i]))
            continue;
        paths[i] = made[i] = path_in(paths[i], "*", format);
        if (!made[i])
            return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    }
    return TSR_OK;
}

/* Tells which outputs are not written although others are. */
static void note_unwritten(int count, const char *const *names, const char *const *paths,
                           bool many) {
    char all[512] = "";
    int written = 0, left = 0;
    for (int i = 0; i < count; i++) {
        written += paths[i] != NULL;
        left += paths[i] == NULL;
        if (!paths[i])
            name_list_add(all, sizeof all, names[i]);
    }
    if (written && left)
        note("not written: output%s %s; %s", left == 1 ? "" : "s", all,
             many ? "-o NAME=FOLDER writes another one" : "-o FOLDER/ writes all");
}

/* ---- runs ------------------------------------------------------------------------------------ */

static tsr_status run_many(job *j, job_input *input, run_options *o, int count, const char **paths,
                           int64_t *skipped) {
    batch_options options = {.shard = {0, 1},
                             .video = o->video,
                             .resume = o->resume,
                             .told = o->asked,
                             .single = &o->single};
    if (o->shard)
        TRY(shard_parse(o->shard, &options.shard));
    if (o->frame)
        TRY(source_parse_frame(o->frame, &options.frame));
    return batch_run(j, input, &options, count, paths, skipped);
}

static tsr_status run_once(job *j, run_options *o, int count, const char **paths) {
    if (o->shard || o->frame || o->resume)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s: no input is a folder, a pattern or a pipe",
                    o->shard   ? "shard"
                    : o->frame ? "frame"
                               : "resume");
    return single_run(j, &o->single, count, paths);
}

/* What is told of classes. read: the file's labels, to be freed. */
static tsr_status choose_labels(const job *j, run_options *o, labels *read) {
    single_options *single = &o->single;
    const model_task task = j->description.task;
    *read = (labels){0};
    single->result.labels = &j->description.labels;
    if (o->labels) {
        TRY(labels_read(o->labels, read));
        single->result.labels = read;
    }
    single->draw.labels = single->result.labels;
    single->result.classes = task == TASK_UNKNOWN || task == TASK_CLASSIFICATION;
    single->format = formats[o->format ? o->format : 1];
    o->asked = o->labels || single->result.top >= 0;
    single->result.top = single->result.top < 0 ? 5 : single->result.top;
    return TSR_OK;
}

static tsr_status run_paths(job *j, run_options *o, int count, const char *const *names,
                            const char **paths, char **made, int64_t *skipped) {
    job_input *input;
    TRY(batch_input(j, &input));
    TRY(take_drawing(o));
    const char *folder = folder_for_all(&o->outputs), *format = formats[o->format ? o->format : 1];
    if (!input && folder)
        TRY(fill_folder(folder, format, count, names, paths, made));
    else
        TRY(job_assign("output", &o->outputs, count, names, paths));
    if (input && o->format)
        TRY(set_formats(format, count, paths, made));
    TRY(check_distinct(count, paths, o->single.draw.path));
    note_unwritten(count, names, paths, input);
    labels read;
    tsr_status status = choose_labels(j, o, &read);
    if (status == TSR_OK)
        status =
            input ? run_many(j, input, o, count, paths, skipped) : run_once(j, o, count, paths);
    labels_free(&read);
    return status;
}

static tsr_status run(job *j, run_options *o, int64_t *skipped) {
    int count = tsr_model_output_count(j->model);
    const char **names = calloc((size_t)count * 2 + 1, sizeof *names);
    char **made = calloc((size_t)count + 1, sizeof *made);
    tsr_status status = names && made ? output_names(j->model, count, names)
                                      : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    if (status == TSR_OK)
        status = run_paths(j, o, count, names, names + count, made, skipped);
    for (int i = 0; made && i < count; i++)
        free(made[i]);
    free(made);
    free(names);
    return status;
}

static const char notes[] =
    "Outputs are told: shape, least, mean and largest element; of a vector of class scores the\n"
    "best classes, with their names if there are --labels. Those named with -o are written, too:\n"
    "  -o FILE      .npy, .txt, .csv (a line for each row), .json (shape, data), .png or .jpg\n"
    "  -o FOLDER/   all outputs, as FOLDER/NAME.npy, or in the format of --format\n"
    "  -o -         to standard output, as .npy or in that format; what is told goes to stderr\n"
    "\n"
    "Pictures of another size than the model's keep it where the network is fully convolutional:\n"
    "they are run whole, or in overlapping tiles if a layer needs the model's size or memory is\n"
    "short (--tile). Other networks get them scaled (--fit).\n"
    "\n"
    "Many inputs: one input may be a folder (its pictures, .npy and .pb files), a quoted pattern\n"
    "('photos/*.jpg'), or a film: NAME.y4m, or - for standard input, y4m or, with --frame WxH, "
    "raw\n"
    "rgb24. Then -o is a folder, which gets NAME.png for each NAME.jpg; a pattern where * stands\n"
    "for NAME ('out/*.npy'); or a film: NAME.y4m, or - for standard output; so it is with --draw.\n"
    "Without -o, with --labels or with --top outputs are told of each input. Files are sorted by\n"
    "name (bytewise); frames are named 000000, 000001, ... Each file is run in the size that it\n"
    "would have alone; if a film is written, all are in that of the first. Files that cannot be\n"
    "read or run are reported and skipped; the exit code is 1 then.\n"
    "\n"
    "  ffmpeg -i in.mp4 -f yuv4mpegpipe - | tessera run MODEL -i - -o - | ffmpeg -i - out.mp4\n"
    "\n"
    "Many processes or machines: --shard I/N processes inputs I, I+N, I+2N, ..., counted from 0;\n"
    "all N shards together write the same files as one run. Files are written atomically: with\n"
    "--resume a shard that was killed goes on where it was. docs/shards.md has recipes for GNU\n"
    "parallel, Slurm and Kubernetes.\n";

int cmd_run(int argc, char **argv) {
    static const char *const videos[] = {"auto", "y4m", "rgb24", NULL}; /* as batch_video */
    job_options options = {.many = true, .own_sizes = true, .tiles = true};
    run_options o = {.single.result.top = -1, .single.draw.score = -1};
    const option items[] = {
        {"output", 'o', "[NAME=]FILE",
         "output file: .npy, .txt, .csv, .json, .png or .jpg; FOLDER/ for all; repeatable",
         OPTION_LIST, &o.outputs, 0, NULL},
        {"format", 0, "FORMAT",
         "of -o - and of files in folders: npy, txt, csv, json, png or jpg (npy; many: png)",
         OPTION_CHOICE, &o.format, 0, formats},
        {"labels", 0, "FILE", "names of the classes, one a line", OPTION_TEXT, &o.labels, 0, NULL},
        {"top", 0, "K", "how many of the best classes are told (5)", OPTION_INT,
         &o.single.result.top, 0, NULL},
        {"draw", 0, "WHAT",
         "draw on the input: boxes, mask, keypoints or classes; -o is the drawing then",
         OPTION_CHOICE, &o.single.draw.kind, 0, draw_kinds},
        {"score", 0, "S", "the least score of what is drawn (the description's)", OPTION_NUMBER,
         &o.single.draw.score, 0, NULL},
        {"frame", 0, "WxH", "frame size of raw input (-i -)", OPTION_TEXT, &o.frame, 0, NULL},
        {"video", 0, "FORMAT", "format of a film to -o -: y4m, rgb24 or auto, as the input (auto)",
         OPTION_CHOICE, &o.video, 0, videos},
        {"shard", 0, "I/N",
         "process part I of N of many inputs, I from 0 to N-1; auto or auto/N: from the "
         "environment of Slurm or Kubernetes",
         OPTION_TEXT, &o.shard, 0, NULL},
        {"resume", 0, NULL, "leave out inputs whose output files are there", OPTION_FLAG, &o.resume,
         0, NULL},
        {"tile", 0, "N",
         "run pictures in tiles of N x N pixels (where their tensors need more than 1 GiB or "
         "half of --max-memory)",
         OPTION_INT, &options.tile, 1, NULL},
        {"random", 0, NULL, "inputs without a file: random numbers", OPTION_FLAG, &options.random,
         0, NULL},
    };
    option_set set = {.usage = "tessera run MODEL [-i [NAME=]FILE]... [-o [NAME=]FILE]...",
                      .notes = notes,
                      .min_arguments = 1,
                      .max_arguments = 1};
    job_add_input_options(&set, &options);
    OPTIONS_ADD(&set, items);
    job_add_seed_option(&set, &options);
    job_add_backend_option(&set, &options);
    job_add_session_options(&set, &options);
    job_add_passes_option(&set, &options);
    job j;
    int code;
    int64_t skipped = 0;
    if (!job_start(&j, &set, argc, argv, &options, JOB_MISSING_REFUSED, &code))
        return code;
    tsr_status status = run(&j, &o, &skipped);
    job_close(&j);
    return status == TSR_OK && skipped ? EXIT_MISMATCH : command_exit(status);
}
