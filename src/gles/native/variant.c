#include "gles/variant.h"

/* Three bits: are sides powers of two, has it floats of 16 bits? */
static unsigned form_of(int width, int height, bool half) {
    return (unsigned)!(width & (width - 1)) << 2 | (unsigned)!(height & (height - 1)) << 1 | half;
}

static bool is_half(const tsr_plan *plan, int tensor) {
    int storage = plan->tensors[tensor].storage;
    return storage != TSR_NONE && plan->storages[storage].format == TSR_TEXEL_F16;
}

static unsigned form_of_table(const tsr_plan *plan, const tsr_pass *pass) {
    const tsr_table *t = &pass->table;
    return tsr_pass_has_table_blocks(pass)
               ? 0
               : form_of(tsr_table_columns(t->width, t->format), tsr_table_rows(plan, t),
                         t->tensor ? is_half(plan, t->tensor) : t->format == TSR_TABLE_F16);
}

static unsigned form_of_source(const tsr_plan *plan, int tensor) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    const tsr_storage *s = t->storage == TSR_NONE ? NULL : &plan->storages[t->storage];
    int width = s ? s->texture_w : t->layout.texture_w;
    int height = s ? s->texture_h : t->layout.texture_h;
    return form_of(width, height + TSR_ZERO_ROWS, is_half(plan, tensor));
}

/* A program that writes to no storage writes to a transfer's staging texture. */
static unsigned count_targets(const tsr_plan *plan, const tsr_pass *pass) {
    int storage = plan->tensors[pass->output].storage;
    if (tsr_pass_writes_more(pass))
        return (unsigned)(pass->planes * (1 + pass->more_count));
    return storage == TSR_NONE ? 1 : (unsigned)plan->storages[storage].planes;
}

_Static_assert(3 * (TSR_MAX_SOURCES + 1) + 5 <= 64 && TSR_MAX_PLANES < 16, "a number's bits");

uint64_t tsr_gles_variant(const tsr_backend_device *device, const tsr_plan *plan,
                          const tsr_pass *pass) {
    if (!device->is_llvmpipe)
        return 0;
    uint64_t variant = form_of_table(plan, pass);
    for (int i = 0; i < pass->source_count; i++)
        variant = variant << 3 | form_of_source(plan, pass->sources[i]);
    return (variant << 1 | is_half(plan, pass->output)) << 4 | count_targets(plan, pass);
}
