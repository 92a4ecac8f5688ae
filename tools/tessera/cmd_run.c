#include "batch.h"
#include "output.h"
#include "text.h"
#include "tool.h"

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

static tsr_status write_output(const job *j, tsr_session *session, int index, const char *path) {
    tsr_tensor_info info;
    tensor result;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    TRY(job_result(j, session, index, &result));
    tsr_status status = output_tensor(path, &result, &j->options->image);
    if (status == TSR_OK)
        printf("%s: %s %s\n", path, name_label(info.name).text, shape_label(&result.shape).text);
    tensor_free(&result);
    return status;
}

/* 0 on the cpu backend. */
static int fallback_nodes(const tsr_session *session, const tsr_report *report) {
    int count = 0;
    if (strcmp(report->backend, "cpu") == 0)
        return 0;
    for (int i = 0; i < report->node_count; i++) {
        tsr_node_report node;
        if (tsr_session_node_report(session, i, &node) == TSR_OK)
            count += strcmp(node.backend, "cpu") == 0;
    }
    return count;
}

static tsr_status run_session(const job *j, tsr_session *session, int count, const char **paths) {
    TRY(job_set_inputs(j, session));
    double start = now_ms();
    TRY(job_run(j, session));
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    for (int i = 0; i < count; i++)
        if (paths[i])
            TRY(write_output(j, session, i, paths[i]));
    printf("ran on %s: %d passes, %d programs", report.backend, report.pass_count,
           report.program_count);
    int on_cpu = fallback_nodes(session, &report);
    if (on_cpu)
        printf(", %d of %d nodes on the CPU", on_cpu, report.node_count);
    printf("%s", report.precision == TSR_PRECISION_FP16 ? ", tensors of 16 bits" : "");
    if (report.precise_tensors)
        printf(", %d of 32", report.precise_tensors);
    printf("%s, %.0f ms\n", report.precise_weights ? ", weights of 32" : "", now_ms() - start);
    return TSR_OK;
}

static tsr_status run_job(const job *j, int count, const char **paths) {
    tsr_device *device;
    tsr_session *session;
    TRY(job_device(j->options, NULL, &device));
    progress("preparing %s", j->path);
    tsr_status status = job_session(j, device, &(tsr_session_desc){0}, &session);
    if (status == TSR_OK) {
        progress("running %s", j->path);
        status = run_session(j, session, count, paths);
        tsr_session_destroy(session);
    }
    progress_clear();
    tsr_device_destroy(device);
    return status;
}

/* Each file is used for one output only. */
static tsr_status check_distinct(int count, const char **paths) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (paths[i] && paths[k] && strcmp(paths[k], paths[i]) == 0)
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: named for two outputs", paths[i]);
    return TSR_OK;
}

/* Files are checked before the run, which may be long. */
static tsr_status run_once(const job *j, int count, const char **paths) {
    for (int i = 0; i < count; i++)
        if (paths[i])
            TRY(output_check_tensor(paths[i]));
    return run_job(j, count, paths);
}

typedef struct many_options {
    char *shard, *frame;
    int video;
} many_options;

static tsr_status run_many(job *j, job_input *input, const many_options *many, int count,
                           const char **paths, int64_t *skipped) {
    batch_options options = {.shard = {0, 1}, .video = many->video};
    if (many->shard)
        TRY(source_parse_shard(many->shard, &options.shard));
    if (many->frame)
        TRY(source_parse_frame(many->frame, &options.frame));
    return batch_run(j, input, &options, count, paths, skipped);
}

static tsr_status run_paths(job *j, const many_options *many, int count, const char **paths,
                            int64_t *skipped) {
    job_input *input;
    TRY(check_distinct(count, paths));
    TRY(batch_input(j, &input));
    if (input)
        return run_many(j, input, many, count, paths, skipped);
    if (many->shard || many->frame)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s: no input is a folder, a pattern or a pipe",
                    many->shard ? "shard" : "frame");
    return run_once(j, count, paths);
}

static tsr_status run(job *j, const text_list *files, const many_options *many, int64_t *skipped) {
    int count = tsr_model_output_count(j->model);
    const char **names = calloc((size_t)count * 2 + 1, sizeof *names);
    if (!names)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    const char **paths = names + count;
    tsr_status status = output_names(j->model, count, names);
    if (status == TSR_OK)
        status = job_assign("output", files, count, names, paths);
    if (status == TSR_OK)
        status = run_paths(j, many, count, paths, skipped);
    free(names);
    return status;
}

static const char notes[] =
    "Only outputs named with -o are written.\n"
    "\n"
    "Pictures of another size than the model's keep it where the network is fully convolutional:\n"
    "they are run whole, or in overlapping tiles if a layer needs the model's size or memory is\n"
    "short (--tile). Other networks get them scaled (--fit).\n"
    "\n"
    "Many inputs: one input may be a folder (its pictures, .npy and .pb files), a quoted pattern\n"
    "('photos/*.jpg'), or a film: NAME.y4m, or - for standard input, y4m or, with --frame WxH, "
    "raw\n"
    "rgb24. Then -o is a folder, which gets NAME.png for each NAME.jpg; a pattern where * stands\n"
    "for NAME ('out/*.npy'); or a film: NAME.y4m, or - for standard output. Files are sorted by\n"
    "name (bytewise); frames are named 000000, 000001, ... Open sizes of the model are set from\n"
    "the first file. Files that cannot be read are reported and skipped; the exit code is 1 then.\n"
    "\n"
    "  ffmpeg -i in.mp4 -f yuv4mpegpipe - | tessera run MODEL -i - -o - | ffmpeg -i - out.mp4\n"
    "\n"
    "Many machines: --shard I/N processes inputs I, I+N, I+2N, ..., counted from 0; all N shards\n"
    "together write the same files as one run. Files are written atomically, so a shard can be\n"
    "restarted.\n"
    "\n"
    "  GNU parallel    seq 0 7 | parallel tessera run MODEL -i in -o out --shard {}/8\n"
    "  Slurm           sbatch --array=0-7 --gpus=1 --wrap 'tessera run MODEL -i in -o out \\\n"
    "                    --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT'\n"
    "  Kubernetes      a Job with completionMode: Indexed, completions: 8, parallelism: 8 and\n"
    "    command: [sh, -c, 'tessera run MODEL -i in -o out --shard $JOB_COMPLETION_INDEX/8']\n";

int cmd_run(int argc, char **argv) {
    static const char *const videos[] = {"auto", "y4m", "rgb24", NULL}; /* as batch_video */
    job_options options = {.many = true, .own_sizes = true, .tiles = true};
    text_list outputs = {0};
    many_options many = {0};
    const option items[] = {
        {"output", 'o', "[NAME=]FILE", "output file: .npy, .png or .jpg; repeatable", OPTION_LIST,
         &outputs, 0, NULL},
        {"frame", 0, "WxH", "frame size of raw input (-i -)", OPTION_TEXT, &many.frame, 0, NULL},
        {"video", 0, "FORMAT", "format of a film to -o -: y4m, rgb24 or auto, as the input (auto)",
         OPTION_CHOICE, &many.video, 0, videos},
        {"shard", 0, "I/N", "process part I of N of many inputs, I from 0 to N-1", OPTION_TEXT,
         &many.shard, 0, NULL},
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
    tsr_status status = run(&j, &outputs, &many, &skipped);
    job_close(&j);
    return status == TSR_OK && skipped ? EXIT_MISMATCH : command_exit(status);
}
