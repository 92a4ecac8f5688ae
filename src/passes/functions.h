/* Function operators: done by others, on every backend. */
#ifndef TSR_PASSES_FUNCTIONS_H
#define TSR_PASSES_FUNCTIONS_H

#include "passes/build.h"
#include "passes/fold.h"

bool tsr_is_function(const tsr_graph *graph, const tsr_node *node);
/* Makes the nodes of b->node, whose inputs have known shapes; b->status tells a failure. */
void tsr_build_function(tsr_builder *b);

/* Appends a node, of which the shapes of inputs are known, or what replaces it; all that is
 * appended is inferred, and evaluated if its inputs are constant. */
tsr_status tsr_append_prepared(tsr_node_list *list, const tsr_node *node);

typedef void tsr_function(tsr_builder *b);
/* Those of the files function_*.c. */
tsr_function tsr_build_size, tsr_build_constant_of_shape, tsr_build_range, tsr_build_tile,
    tsr_build_eye_like, tsr_build_one_hot, tsr_build_center_crop_pad, tsr_build_global_lp_pool,
    tsr_build_lstm, tsr_build_gru, tsr_build_rnn, tsr_build_einsum, tsr_build_reverse_sequence,
    tsr_build_max_unpool, tsr_build_dropout, tsr_build_random_uniform, tsr_build_random_normal,
    tsr_build_random_uniform_like, tsr_build_random_normal_like, tsr_build_bernoulli,
    tsr_build_multinomial, tsr_build_hann_window, tsr_build_hamming_window,
    tsr_build_blackman_window, tsr_build_attention, tsr_build_rotary_embedding, tsr_build_lp_pool,
    tsr_build_col2im, tsr_build_affine_grid, tsr_build_if, tsr_build_loop, tsr_build_scan,
    tsr_build_function_call, tsr_build_deform_conv, tsr_build_byte_max_pool,
    tsr_build_quantize_linear, tsr_build_dequantize_linear, tsr_build_dynamic_quantize_linear,
    tsr_build_qlinear_conv, tsr_build_qlinear_matmul, tsr_build_conv_integer,
    tsr_build_matmul_integer, tsr_build_adam, tsr_build_adagrad, tsr_build_momentum,
    tsr_build_gradient;

/* A body's nodes again: `inputs` stand for its inputs, the node list's places for what it reads of
 * others; `outputs` become what stands for its outputs. */
void tsr_build_body(tsr_builder *b, const tsr_body *body, const int *inputs, int *outputs);
/* The values are the replaced node's outputs; TSR_NONE where it has none. */
void tsr_build_results(tsr_builder *b, const int *values);

/* Does a Dropout drop elements? */
bool tsr_drops(const tsr_graph *graph, const tsr_node *node);
/* Are its results random numbers? */
bool tsr_is_random(const tsr_graph *graph, const tsr_node *node);

#endif
