#include "gles/variant.h"

/* Two bits: are they powers of two? */
static unsigned sides(int width, int height) {
    return (unsigned)!(width & (width - 1)) << 1 | (unsigned)!(height & (height - 1));
}

static unsigned sides_of_table(const tsr_plan *plan, const tsr_pass *pass) {
    const tsr_table *t = &pass->table;
    return tsr_pass_has_table_blocks(pass)
               ? 0
               : sides(tsr_table_columns(t->width, t->format), tsr_table_rows(plan, t));
}

static unsigned sides_of_source(const tsr_plan *plan, int tensor) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    const tsr_storage *s = t->storage == TSR_NONE ? NULL : &plan->storages[t->storage];
    return s ? sides(s->texture_w, s->texture_h + TSR_ZERO_ROWS)
             : sides(t->layout.texture_w, t->layout.texture_h + TSR_ZERO_ROWS);
}

/* A program that writes to no storage writes to a transfer's staging texture. */
static unsigned count_targets(const tsr_plan *plan, const tsr_pass *pass) {
    int storage = plan->tensors[pass->output].storage;
    if (tsr_pass_writes_more(pass))
        return (unsigned)(pass->planes * (1 + pass->more_count));
    return storage == TSR_NONE ? 1 : (unsigned)plan->storages[storage].planes;
}

_Static_assert(2 * (TSR_MAX_SOURCES + 1) + 4 <= 64 && TSR_MAX_PLANES < 16, "a number's bits");

uint64_t tsr_gles_variant(const tsr_backend_device *device, const tsr_plan *plan,
                          const tsr_pass *pass) {
    if (!device->is_llvmpipe)
        return 0;
    uint64_t variant = sides_of_table(plan, pass);
    for (int i = 0; i < pass->source_count; i++)
        variant = variant << 2 | sides_of_source(plan, pass->sources[i]);
    return variant << 4 | count_targets(plan, pass);
}
