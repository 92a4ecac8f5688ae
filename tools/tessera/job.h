/* Shared by run, bench, compare, show and info: a model, files bound to its inputs, sessions
 * (job_session.c). */
#ifndef TESSERA_JOB_H
#define TESSERA_JOB_H

#include "custom_ops.h"
#include "description.h"

typedef struct job_options {
    char *backend; /* NULL: the library's default */
    char *adapter;
    char *custom_ops;                            /* a file: custom_ops.h */
    char *passes;                                /* tsr_session_desc.optimizer_passes */
    int precision, weights;                      /* a tsr_precision, a tsr_weight_type */
    int gpu, seed, tune_ms, most_memory;         /* MiB; 0: the machine's */
    int texture_size, draw_buffers, block_bytes; /* of gles, at most; 0: the driver's */
    bool no_float_targets;
    double most_work; /* 0: the library's default */
    bool cpu_fallback, allow_nan, poison, no_tune;
    bool random; /* missing inputs are JOB_MISSING_RANDOM even where they are refused otherwise */
    bool many;   /* an input may be a folder, a pattern or a pipe: see source.h */
    bool own_sizes; /* pictures keep their size where the model allows it: see tiling.h */
    bool tiles;     /* and may be run in parts, of `tile` pixels; 0: where memory needs it */
    int tile;
    bool reread;              /* other processes read the inputs again, so they must be files */
    int batch;                /* the first size of inputs that leave it open; 0: it stays */
    const char *shape_option; /* its name in messages; NULL: "shape" */
    text_list inputs, dims, shapes;
    char *description; /* a file, "none", or NULL: the one beside the model */
    image_options image;
} job_options;

/* Options of devices; of sessions, with those of storage and, but for the backend, of devices; of
 * inputs, with those of how files are read. */
void job_add_backend_option(option_set *set, job_options *options);
void job_add_gpu_options(option_set *set, job_options *options);
void job_add_device_options(option_set *set, job_options *options);
void job_add_storage_options(option_set *set, job_options *options);
void job_add_session_options(option_set *set, job_options *options);
void job_add_input_options(option_set *set, job_options *options);
void job_add_file_options(option_set *set, job_options *options);
void job_add_seed_option(option_set *set, job_options *options);
void job_add_passes_option(option_set *set, job_options *options);

/* How inputs without a file are handled. */
typedef enum job_missing {
    JOB_MISSING_REFUSED,
    JOB_MISSING_RANDOM, /* seeded, uniform in [-1, 1) */
    JOB_MISSING_OPEN,   /* left unset: the session is only planned */
} job_missing;

typedef struct job_input {
    tsr_tensor_info info; /* shape with --dim and --shape applied */
    bool fixed;           /* becomes a constant of the session */
    bool shaped;          /* by --shape or by its tensor */
    bool sized;           /* by --shape, which says `size` */
    tsr_shape size;
    bool tiled;       /* the session has tiles of it */
    bool given;       /* tensor holds its elements */
    const char *path; /* of its file; NULL: none */
    const char *many; /* a sequence of tensors, read by the command; NULL: a single tensor */
    tensor tensor;
    image_side side;
    image_options image; /* the command line's and, where that leaves it open, the description's */
    void *packed;        /* a fixed input's elements in the model's own type */
} job_input;

typedef struct job {
    const job_options *options;
    const char *path;
    custom_ops custom; /* the model's */
    tsr_model *model;
    description description;
    uint64_t bytes; /* of the model's file or, together, of its chunks */
    int input_count, dim_count;
    job_input *inputs;
    image_options *output_images; /* how outputs are written as pictures */
    tsr_dim_binding dims[TEXT_LIST_MAX];
    bool resized;          /* inputs have other sizes than the model fixes */
    struct tiling *tiling; /* of the input that is tiled; NULL: none is */
} job;

/* On failure there is nothing to close. Option texts are split in place. */
tsr_status job_open(job *made, job_options *options, const char *model_path, job_missing missing);
/* Parses the command line and opens the job. False if the command ends here, with the exit code. */
bool job_start(job *made, option_set *set, int argc, char **argv, job_options *options,
               job_missing missing, int *exit_code);
void job_close(job *j);

/* Reads a tensor for the input from a file. */
tsr_status job_load(const job *j, const job_input *input, const char *path, tensor *made,
                    image_side *side);

/* Dimensions, shapes and fixed inputs of a session, which job_free_shapes() frees. */
tsr_status job_describe_shapes(const job *j, tsr_session_desc *desc);
void job_free_shapes(tsr_session_desc *desc);

/* An input of one tensor, for the library: elements in its own type if it is fixed, else floats. */
void job_describe_input(const job_input *input, tsr_fixed_input *made);

/* backend NULL: the one in the options. */
tsr_status job_device(const job_options *options, const char *backend, tsr_device **device);
/* extra: settings of the command in addition to the options (keep_tensors, extra_outputs, ...); its
 * optimizer_passes instead of theirs. */
tsr_status job_session(const job *j, tsr_device *device, const tsr_session_desc *extra,
                       tsr_session **session);
/* With --precision auto: chooses tensors' storage, once all inputs are set. */
tsr_status job_calibrate(const job *j, tsr_session *session);
/* Sets every input of the session that has one tensor; calibrates if there is no other. */
tsr_status job_set_inputs(const job *j, tsr_session *session);

/* Sets tile k of the picture as the tiled input. */
tsr_status job_set_tile(const job *j, tsr_session *session, int k, const float *picture);
/* Runs the session once its inputs are set: by tiles, if one is tiled. */
tsr_status job_run(const job *j, tsr_session *session);
/* Output `index` of job_run(), of the whole picture. */
tsr_status job_output(const job *j, tsr_session *session, int index, named_tensor *made);
/* Of the first input that was a picture; empty where none was. */
image_side job_side(const job *j);

/* An output, or any kept tensor, of the latest run. */
tsr_status job_fetch(tsr_session *session, const char *name, const tsr_shape *shape, tensor *made);

/* The index of the name of the given length; the error lists all names. */
tsr_status job_find(const char *what, const char *name, size_t length, int count,
                    const char *const *names, int *index);

/* Assigns each "NAME=FILE" or "FILE" to one of count names: files without a name go to the
 * unassigned ones in order. paths[i] is NULL if no file is given. */
tsr_status job_assign(const char *what, const text_list *files, int count, const char *const *names,
                      const char **paths);

#endif
