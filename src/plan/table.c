/* Tables: how they are stored, and the texture or buffer that holds one. */
#include "plan/plan.h"

#include "base/error.h"

#include <limits.h>
#include <string.h>

size_t tsr_table_texel_bytes(tsr_table_format format) {
    static const size_t bytes[] = {[TSR_TABLE_F32] = 16,
                                   [TSR_TABLE_F16] = 8,
                                   [TSR_TABLE_I8] = 4,
                                   [TSR_TABLE_I8_OF_4] = 4,
                                   [TSR_TABLE_I4_OF_4] = 2};
    return bytes[format];
}

bool tsr_table_is_of_4(tsr_table_format format) {
    return format == TSR_TABLE_I8_OF_4 || format == TSR_TABLE_I4_OF_4;
}

int tsr_table_columns(int width, tsr_table_format format) {
    return tsr_table_is_of_4(format) ? width / 4 : width;
}

int tsr_texture_side(const tsr_plan *plan, int side) {
    const int larger = side == 1 ? 3 : side + 1;
    bool is_power = (side & (side - 1)) == 0;
    return plan->device.recompiles && is_power && larger <= plan->limits.max_texture_size ? larger
                                                                                          : side;
}

int tsr_table_rows(const tsr_plan *plan, const tsr_table *table) {
    return table->pack ? tsr_texture_side(plan, table->height) : table->height;
}

/* Rows follow each other in memory, so kernels that read a buffer need not know about them. */
static tsr_table_size buffer_entries(tsr_plan *plan, tsr_table_format format, int block,
                                     int64_t count) {
    uint64_t most = plan->limits.max_buffer_bytes,
             bytes = (uint64_t)count * (uint64_t)block * tsr_table_texel_bytes(format);
    if (count > INT_MAX / block || bytes > most) {
        tsr_plan_fail(plan,
                      tsr_fail(TSR_ERROR_LIMIT,
                               "weights of %lld texels need a buffer of %llu bytes, the device "
                               "binds at most %llu",
                               (long long)count * block, (unsigned long long)bytes,
                               (unsigned long long)most));
        return (tsr_table_size){0};
    }
    return (tsr_table_size){block * (int)count, 1, 30};
}

tsr_table_size tsr_table_entries(tsr_plan *plan, tsr_table_format format, int block,
                                 int64_t count) {
    int limit = plan->limits.max_texture_size, log2 = 0;
    if (plan->limits.max_buffer_bytes)
        return buffer_entries(plan, format, block, count);
    while (((int64_t)block << (log2 + 1)) <= limit &&
           ((int64_t)1 << log2) * ((int64_t)block << log2) < count)
        log2++;
    int64_t height = (count + ((int64_t)1 << log2) - 1) >> log2;
    if (block > limit || height > limit) {
        tsr_plan_fail(plan,
                      tsr_fail(TSR_ERROR_LIMIT, "%lld weight texels fit no texture of %d x %d",
                               (long long)count * block, limit, limit));
        return (tsr_table_size){0};
    }
    return (tsr_table_size){block << log2, (int)height, log2};
}

void tsr_pass_table(tsr_plan *plan, tsr_pass *pass, const tsr_table *table, const void *data,
                    size_t size) {
    void *copy = tsr_arena_alloc(plan->arena, 1, size);
    if (!copy) {
        tsr_plan_out_of_memory(plan);
        return;
    }
    memcpy(copy, data, size);
    pass->table = *table;
    pass->table.data = copy;
}
