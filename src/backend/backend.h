/* The function table of a backend. Arguments are checked once, in src/api; a backend relies on
 * that. */
#ifndef TSR_BACKEND_BACKEND_H
#define TSR_BACKEND_BACKEND_H

#include "base/elements.h"
#include "base/progress.h"
#include "plan/plan.h"

typedef struct tsr_backend tsr_backend;

/* Opaque outside the backend, which defines these structs. */
typedef struct tsr_runner tsr_runner;
typedef struct tsr_backend_device tsr_backend_device;

typedef struct tsr_runner_options {
    tsr_precision precision;
    bool allow_cpu_fallback, texture_outputs, keep_tensors, plan_only, time_passes, poison;
    bool prepare_in_steps; /* make a runner that is only planned, if there is prepare() */
    bool copies_concats;   /* the plan writes no input of a Concat in place */
    bool copies_splits;    /* nor does it read parts of a tensor in place */
    /* Inputs and outputs have storages of their own, in the layout that their shape alone decides;
     * their transfers are prepared when they are first used. */
    bool separate_tensors;
    bool bound_tensors;   /* and these are other runners': see bind() */
    bool fused_only;      /* fail where post-ops need a pass of their own */
    bool again;           /* a runner of the graph was made before: messages are not logged again */
    bool any_bytes;       /* use exactly these algorithms: no low-memory plan */
    int runs_in_flight;   /* at least 1 */
    tsr_weight_type weights;
    bool precise_weights; /* weights and products of 32 bits with TSR_PRECISION_FP16 */
    const bool *precise; /* by value of the graph: of 32 bits with TSR_PRECISION_FP16; NULL: none */
    const tsr_node_choice *choices; /* by node of the graph; NULL: none */
    tsr_progress_meter *progress;   /* of making the runner; NULL: nobody is told */
} tsr_runner_options;

struct tsr_backend {
    const char *name;
    bool optimizes; /* needs tsr_optimize()d graphs */
    bool streams;   /* reads constants stored in the file, except for nodes that fall back */
    const char *kernel_version; /* a hash of its kernels' source texts; NULL: it has none */

    tsr_status (*device_create)(const tsr_device_desc *desc, tsr_backend_device **device);
    void (*device_destroy)(tsr_backend_device *device);
    void (*device_info)(const tsr_backend_device *device, tsr_device_info *info);
    /* Optional: NULL where devices cannot be lost. */
    bool (*is_lost)(tsr_backend_device *device);
    /* Optional: NULL where there is nothing to measure. See tsr_device_measure. */
    tsr_status (*measure)(tsr_backend_device *device, tsr_device_peaks *peaks);
    /* See tsr_list_devices. */
    void (*list_devices)(tsr_device_fn fn, void *user);

    /* The graph is prepared (shapes known, constants folded) and outlives the runner. */
    tsr_status (*runner_create)(tsr_backend_device *device, const tsr_graph *graph,
                                const tsr_runner_options *options, tsr_runner **runner);
    void (*runner_destroy)(tsr_runner *runner);
    /* Prepares a runner that was made in steps for about ms milliseconds, without waiting for the
     * driver; TSR_NOT_READY while work remains. Not called again after TSR_OK or a failure.
     * Optional: NULL where runner_create does it all. */
    tsr_status (*prepare)(tsr_runner *runner, double ms);
    /* Of a runner with bound_tensors: the tensor of an input or output is that of an input of
     * another runner of the device, which has the same shape and precision and separate_tensors.
     * For the runs that are submitted until that runner is destroyed or the value bound again. */
    void (*bind)(tsr_runner *runner, int value, const tsr_runner *other, int other_value);
    /* value: index of a graph input or output. The elements are copied. */
    tsr_status (*set_input)(tsr_runner *runner, int value, const tsr_elements *from);
    /* texture: its tiles are those of the value's shape. Optional: NULL where a backend has no
     * textures. */
    tsr_status (*set_input_texture)(tsr_runner *runner, int value, const tsr_texture *texture,
                                    float factor, float summand);
    /* buffer: its bytes are those that may be accessed. Submitted, not waited for. Optional: NULL
     * where a backend has no buffers. */
    tsr_status (*set_input_buffer)(tsr_runner *runner, int value, const tsr_buffer *buffer);
    tsr_status (*get_output_buffer)(tsr_runner *runner, int value, const tsr_buffer *buffer);
    /* Other elements for a constant of the model, in this runner alone. TSR_ERROR_UNSUPPORTED where
     * weights are packed, if it is not only read as such. */
    tsr_status (*set_weights)(tsr_runner *runner, int constant, const float *elements);
    /* Selects the output slot, 0 to runs_in_flight - 1, for submit, poll, wait and get_output.
     * Optional: NULL where submit waits; then the session keeps the outputs. */
    void (*select_run)(tsr_runner *runner, int slot);
    /* See tsr_session_transfer_outputs(). Optional: NULL where outputs are in memory. */
    void (*transfer_outputs)(tsr_runner *runner, bool transfer);
    tsr_status (*submit)(tsr_runner *runner);
    /* Submits the passes before the first one that reads any of these inputs, so that the caller can
     * set the inputs while the device works. submit has to follow: it submits the rest. Optional:
     * NULL where the inputs have to be set first. */
    tsr_status (*submit_before)(tsr_runner *runner, const int *values, int count);
    /* Works on the current run, or begins a new one, for about ms milliseconds; TSR_NOT_READY while
     * work remains. Optional: NULL where submit and poll do the same. */
    tsr_status (*step)(tsr_runner *runner, bool begin, double ms);
    tsr_status (*poll)(tsr_runner *runner);
    /* Blocks until the run is done. Optional: NULL where submit already does. */
    tsr_status (*wait)(tsr_runner *runner);
    /* Draws pixels of an output of the latest run, without waiting: the target's size and
     * normalization are those of `pixels`. Optional: NULL where a backend does not draw. */
    tsr_status (*draw_output)(tsr_runner *runner, int value, const tsr_pixels *pixels,
                              const tsr_draw_target *target);
    /* Waits for the run; value may be any kept tensor with keep_tensors. */
    tsr_status (*get_output)(tsr_runner *runner, int value, const tsr_elements *to);
    /* Whether value can be read with get_output. */
    bool (*can_read)(const tsr_runner *runner, int value);
    /* Optional: NULL where a backend has no textures. */
    tsr_status (*output_texture)(tsr_runner *runner, int value, tsr_texture *texture);
    void (*report)(const tsr_runner *runner, tsr_report *report);
    /* Report of graph node i. */
    void (*node_report)(const tsr_runner *runner, int node, tsr_node_report *report);
    /* Algorithms that can compute graph node i, as the runner was planned. Optional: NULL where
     * there is never a choice. */
    tsr_candidates (*candidates)(const tsr_runner *runner, int node);
};

/* NULL-terminated, in the order of preference; only backends that were built. */
extern const tsr_backend *const tsr_backends[];
const tsr_backend *tsr_backend_find(const char *name);

#endif
