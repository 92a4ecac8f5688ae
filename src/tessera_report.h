/* Part of tessera.h, which includes it and has the rules: what a session does, by node, by
 * algorithm and by pass of the optimizer. */
#ifndef TESSERA_REPORT_H
#define TESSERA_REPORT_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_node_report {
    /* op: the node and its post-ops, "Conv+Relu"; what it applies to its first input as it reads
     * that: "Conv(LeakyRelu)+Relu" */
    const char *name, *op;
    const char *output;  /* name of the tensor that it writes */
    const char *backend; /* where it ran: "gles", "webgpu", "cpu"; "view": needs no pass */
    const char *kernel;  /* stems of its passes' kernels: "moments+normalize"; "" on cpu */
    int candidates;      /* algorithms that can compute it: see tsr_session_candidate_report */
    tsr_shape shape;     /* of output */
    int64_t macs;        /* multiply-adds, counted from shapes; none on inserted zeros */
    uint64_t bytes; /* of inputs and outputs in the session's precision, of weights, their scales
                       and zero points as they are stored, each counted once */
    int passes;     /* without copies to output textures */
    int64_t draws;  /* or dispatches, per run: a pass with uniform blocks has many */
    double ms;      /* latest measured GPU or CPU time; negative if not measured */
    /* Of output. A GPU holds integers and booleans in floats, exactly up to 2^24. */
    tsr_dtype dtype;
    tsr_precision precision; /* in which output is stored: TSR_PRECISION_FP32 or _FP16 */
    /* By Winograd's algorithm: pixels of a tile and taps of a filter, "F(2x2,3x3)"; else "". */
    const char *winograd_tile;
} tsr_node_report;

typedef struct tsr_report {
    const char *backend;
    int node_count, pass_count;
    int program_count;         /* distinct programs that this session runs */
    int cached_programs;       /* of these, loaded compiled from the cache on disk: not those that a
                                  driver keeps in its own */
    double compile_ms;         /* wall time of compiling and linking */
    int tuned_layers;          /* kinds of layers autotuned when the session was made */
    double tune_ms;            /* wall time of autotuning */
    int64_t macs;              /* per run */
    uint64_t tensor_bytes;     /* planned bytes of tensors: the peak, all allocated at once */
    uint64_t live_bytes_bound; /* lower bound: the most that is alive at one time */
    uint64_t weight_bytes;     /* on the device, shared ones among them */
    uint64_t packed_bytes;     /* of these, packed for this session: the others it shares with
                                  sessions that the device already had of the model */
    uint64_t allocated_bytes;  /* now allocated on the device for this session, shared weights
                                  among them */
    /* Latest run on the GPU's own clock, from its first pass to its last; negative if not measured:
     * needs tsr_session_desc.time_passes. */
    double gpu_ms;
    /* Storage of tensors on the GPU: TSR_PRECISION_FP16 where that was asked for, or on a device
     * that is half_only, or by a calibration. */
    tsr_precision precision;
    /* Of a session with TSR_PRECISION_AUTO, once it is calibrated. */
    double calibrated_error; /* of outputs, relative to their largest element, as measured then;
                                negative: not calibrated */
    int precise_tensors;     /* that have 32 bits */
    bool precise_weights;    /* weights and products have 32 bits */
} tsr_report;

TSR_API tsr_status tsr_session_report_sized(const tsr_session *session, tsr_report *report,
                                            size_t size);
static inline tsr_status tsr_session_report(const tsr_session *session, tsr_report *report) {
    return tsr_session_report_sized(session, report, sizeof *report);
}
TSR_API tsr_status tsr_session_node_report_sized(const tsr_session *session, int index,
                                                 tsr_node_report *report, size_t size);
static inline tsr_status tsr_session_node_report(const tsr_session *session, int index,
                                                 tsr_node_report *report) {
    return tsr_session_node_report_sized(session, index, report, sizeof *report);
}

/* One way to compute a node, of those that the device has for it. */
typedef struct tsr_candidate_report {
    const char *algorithm; /* "conv_direct" */
    double estimate;       /* of its time, relative to the least of the node's candidates */
    uint64_t bytes;        /* of tensors that its passes leave for each other */
    int live_texels;       /* that a fragment or invocation keeps in registers, each of 4 floats */
    double ms;             /* by autotuning, now or earlier; negative if not measured */
    bool chosen;
    const char *winograd_tile; /* as that of tsr_node_report */
} tsr_candidate_report;

/* Candidate i of tsr_node_report.candidates. */
TSR_API tsr_status tsr_session_candidate_report_sized(const tsr_session *session, int node, int i,
                                                      tsr_candidate_report *report, size_t size);
static inline tsr_status tsr_session_candidate_report(const tsr_session *session, int node, int i,
                                                      tsr_candidate_report *report) {
    return tsr_session_candidate_report_sized(session, node, i, report, sizeof *report);
}

/* What a pass of the optimizer did when the session was made. */
typedef struct tsr_optimizer_pass_report {
    const char *name;
    bool required; /* it cannot be left out */
    bool on;       /* by tsr_session_desc.optimizer_passes, and on this backend */
    /* Nodes of the graph before and after it; -1 if it does not run on the graph but as nodes are
     * planned, or is not on. */
    int nodes_before, nodes_after;
} tsr_optimizer_pass_report;

/* index: as of tsr_optimizer_pass_name(). TSR_ERROR_INVALID_ARGUMENT past the last. */
TSR_API tsr_status tsr_session_optimizer_pass_sized(const tsr_session *session, int index,
                                                    tsr_optimizer_pass_report *report, size_t size);
static inline tsr_status tsr_session_optimizer_pass(const tsr_session *session, int index,
                                                    tsr_optimizer_pass_report *report) {
    return tsr_session_optimizer_pass_sized(session, index, report, sizeof *report);
}

/* The session's graph, as the optimizer left it, in Graphviz' language DOT: nodes with their
 * post-ops and the shapes of their constants, tensors' shapes at the edges, dashed what post-ops
 * read, in dashed boxes nodes that follow each run on the CPU. `write` is called many times, on
 * this thread; TSR_ERROR_IO if it returns false. Names are escaped. */
TSR_API tsr_status tsr_session_write_dot(const tsr_session *session, tsr_write_fn write,
                                         void *user);

#ifdef __cplusplus
}
#endif
#endif
