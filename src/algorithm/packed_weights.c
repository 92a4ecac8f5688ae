#include "algorithm/packed_weights.h"
#include "algorithm/block_weights.h"
#include "algorithm/integer_weights.h"

static void add_blocks(tsr_cache_key *key, const tsr_convolution *c) {
    const tsr_weight_blocks *b = c->blocks;
    const int64_t numbers[] = {b->by_input, b->by_tap, b->log2};
    size_t steps = (size_t)(b->count * c->group_outputs * c->window.group);
    tsr_cache_key_add_bytes(key, numbers, sizeof numbers);
    tsr_cache_key_add_bytes(key, b->steps, steps * sizeof *b->steps);
}

/* Pads and strides are those of phases: a transposed convolution's taps follow from them. Image
 * sizes are not part of the key, so that sessions of different sizes can share weights, as far as
 * they choose the same algorithm. */
static tsr_cache_key make_key(const tsr_plan *plan, const tsr_convolution *c,
                              const tsr_weight_layout *layout, const tsr_table *t) {
    const tsr_window *w = &c->window;
    const int64_t numbers[] = {(int64_t)plan->graph->model_id,
                               c->constant,
                               w->kernel[0],
                               w->kernel[1],
                               w->stride[0],
                               w->stride[1],
                               w->dilation[0],
                               w->dilation[1],
                               w->pad_begin[0],
                               w->pad_begin[1],
                               w->group,
                               c->group_outputs,
                               c->group_inputs,
                               (int64_t)c->stride_group,
                               (int64_t)c->stride_output,
                               (int64_t)c->stride_input,
                               t->units,
                               t->width,
                               t->height,
                               (int64_t)t->format,
                               c->scale != NULL};
    tsr_cache_key key = tsr_cache_key_start();
    tsr_cache_key_add(&key, layout->tag);
    tsr_cache_key_add_bytes(&key, numbers, sizeof numbers);
    tsr_cache_key_add_bytes(&key, layout->numbers, sizeof layout->numbers);
    tsr_cache_key_add_bytes(&key, &c->factor, sizeof c->factor);
    if (c->blocks)
        add_blocks(&key, c);
    if (c->scale)
        tsr_cache_key_add_bytes(&key, c->scale,
                                (size_t)(c->group_outputs * w->group) * sizeof *c->scale);
    return key;
}

void tsr_weights_for_dots(float *texels, int64_t stride) {
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < i; j++) {
            float weight = texels[i * stride * 4 + j];
            texels[i * stride * 4 + j] = texels[j * stride * 4 + i];
            texels[j * stride * 4 + i] = weight;
        }
}

/* Where each component of the packed weights comes from: what packing the numbers of elements, not
 * the elements, gives; in rows that a texture holds. Equal for all convolutions of this kind. */
static void set_places(tsr_plan *plan, tsr_pass *pass, const tsr_convolution *conv,
                       const tsr_weight_layout *layout, const tsr_table *packed,
                       tsr_table_size size, const void *data, size_t data_size) {
    const float *numbers = tsr_plan_element_numbers(plan, packed->weights);
    const int64_t texels = (int64_t)packed->width * packed->height;
    tsr_table places = *packed;
    places.width = size.width;
    places.height = size.height;
    places.format = TSR_TABLE_F32;
    places.dense = packed->dense && (int64_t)size.width * size.height == texels;
    places.weights = 0;
    places.shared = true;
    places.key = make_key(plan, conv, layout, packed);
    tsr_cache_key_add(&places.key, "places");
    tsr_pass_table(plan, pass, &places, data, data_size);
    if (plan->status == TSR_OK)
        *(const tsr_unaligned_float **)(void *)((char *)pass->table.data + places.weights_at) =
            numbers;
}

static tsr_pass *pack_computed(tsr_plan *plan, tsr_pass *pass, const tsr_convolution *conv,
                               const tsr_weight_layout *layout, const tsr_table *table,
                               const void *data, size_t size) {
    const tsr_table_size places =
        tsr_table_entries(plan, TSR_TABLE_F32, 1, (int64_t)table->width * table->height);
    int texels = tsr_pass_computed_table(plan, pass, table);
    tsr_pass *packing = TSR_PASS(plan, texels, pack_weights, .X = TSR_TENSOR(conv->tensor),
                                 .width_log2 = TSR_INT(places.entries_log2));
    set_places(plan, packing, conv, layout, table, places, data, size);
    return plan->status == TSR_OK ? tsr_plan_move_back(plan) : pass;
}

tsr_pass *tsr_pass_packed_weights(tsr_plan *plan, tsr_pass *pass, const tsr_convolution *conv,
                                  const tsr_weight_layout *layout, tsr_table table,
                                  const void *data, size_t size) {
    table.constant = conv->constant;
    table.weights_at = (size_t)((const char *)&conv->weights - (const char *)data);
    table.weights = tsr_count_weights(conv);
    table.scales = conv->scales;
    if (conv->tensor)
        return pack_computed(plan, pass, conv, layout, &table, data, size);
    table.shared = conv->constant != 0;
    if (table.shared)
        table.key = make_key(plan, conv, layout, &table);
    tsr_pass_table(plan, pass, &table, data, size);
    return pass;
}
