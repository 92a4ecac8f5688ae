/* Tables that a pass of the plan writes before another one reads them: weights that are no
 * constants, packed on the device. */
#include "plan/plan.h"

#include <string.h>

bool tsr_pass_has_table_blocks(const tsr_pass *pass) {
    return pass->draw_count && !pass->blocks_from_source;
}

int tsr_pass_blocks_tensor(const tsr_pass *pass) {
    if (pass->blocks_from_source)
        return pass->sources[0];
    return tsr_pass_has_table_blocks(pass) ? pass->table.tensor : 0;
}

int tsr_pass_count_reads(const tsr_pass *pass) {
    return pass->source_count + (pass->table.tensor != 0);
}

int tsr_pass_read(const tsr_pass *pass, int i) {
    return i < pass->source_count ? pass->sources[i] : pass->table.tensor;
}

/* Kernels read a table's texture by its columns and rows. */
static void make_texture(tsr_plan *plan, int tensor, const tsr_table *table) {
    tsr_plan_tensor *t = &plan->tensors[tensor];
    tsr_layout *l = &t->layout;
    l->w = l->tile_w = l->texture_w = table->width;
    l->h = l->texture_h = table->height;
    t->plain = true;
}

int tsr_pass_computed_table(tsr_plan *plan, tsr_pass *pass, const tsr_table *table) {
    const tsr_layout_hint hint = {
        .planes = 1, .format = table->format == TSR_TABLE_F16 ? TSR_TEXEL_F16 : TSR_TEXEL_F32};
    const tsr_shape texel = {4, {1, 4, 1, 1}}, all = {4, {1, 4, table->height, table->width}};
    const bool texture = !plan->limits.max_buffer_bytes && !tsr_pass_has_table_blocks(pass);
    int tensor = tsr_plan_tensor_make(plan, texture ? &texel : &all, hint);
    if (tensor && texture)
        make_texture(plan, tensor, table);
    pass->table = *table;
    pass->table.pack = NULL;
    pass->table.tensor = tensor;
    return tensor;
}

tsr_pass *tsr_plan_move_back(tsr_plan *plan) {
    tsr_pass *before = &plan->passes[plan->pass_count - 2], *latest = before + 1;
    const tsr_pass moved = *latest;
    *latest = *before;
    *before = moved;
    plan->tensors[before->output].first_pass--;
    plan->tensors[latest->output].first_pass++;
    return latest;
}

const float *tsr_plan_element_numbers(tsr_plan *plan, int64_t count) {
    if (count <= plan->element_count)
        return plan->element_numbers;
    float *numbers = TSR_NEW(plan->arena, count, float);
    if (!numbers) {
        tsr_plan_out_of_memory(plan);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = TSR_ELEMENT_BITS + (uint32_t)i;
        memcpy(&numbers[i], &bits, sizeof bits);
    }
    plan->element_numbers = numbers;
    plan->element_count = count;
    return numbers;
}
