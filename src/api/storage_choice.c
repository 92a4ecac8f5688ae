#include "api/storage_choice.h"

#include "base/allocator.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

/* An entry on disk: a head, and a byte for each value. */
typedef struct entry_head {
    double error;
    int32_t value_count, precise_weights;
} entry_head;

struct tsr_kept_choice {
    tsr_kept_choice *next;
    tsr_cache_key key;
    size_t size; /* of entry */
    unsigned char entry[];
};

/* ---- the key --------------------------------------------------------------------------------- */

static void add_int(tsr_cache_key *key, int64_t number) {
    tsr_cache_key_add_bytes(key, &number, sizeof number);
}

/* Some of a constant's elements, which differ where another model has the same graph. */
static void add_sample(tsr_cache_key *key, const tsr_value *value) {
    enum { SAMPLES = 64 };
    int64_t count = tsr_shape_count(&value->shape), step = count > SAMPLES ? count / SAMPLES : 1;
    size_t size = tsr_stored_size(value->dtype);
    for (int64_t i = 0; i < count; i += step)
        tsr_cache_key_add_bytes(key, (const char *)value->data + (size_t)i * size, size);
}

/* Of the graphs that an attribute holds, which run on the CPU, nothing. */
static void add_attr(tsr_cache_key *key, const tsr_attr *attr) {
    size_t size;
    const void *bytes = tsr_attr_bytes(attr, &size);
    tsr_cache_key_add(key, attr->name);
    add_int(key, attr->kind);
    for (int i = 0; attr->kind == TSR_ATTR_STRINGS && i < attr->count; i++)
        tsr_cache_key_add(key, attr->strings[i]);
    if (size) {
        add_int(key, (int64_t)size);
        tsr_cache_key_add_bytes(key, bytes, size);
    }
}

static void add_post(tsr_cache_key *key, const tsr_post *post) {
    const int numbers[] = {post->op, post->operand, post->swapped, post->scaled};
    tsr_cache_key_add_bytes(key, numbers, sizeof numbers);
    tsr_cache_key_add_bytes(key, post->param, sizeof post->param);
}

static void add_node(tsr_cache_key *key, const tsr_node *node) {
    tsr_cache_key_add(key, tsr_node_op_name(node));
    for (int i = 0; i < node->input_count; i++)
        add_int(key, node->inputs[i]);
    for (int i = 0; i < node->output_count; i++)
        add_int(key, node->outputs[i]);
    for (int i = 0; i < node->attr_count; i++)
        add_attr(key, &node->attrs[i]);
    for (int i = 0; i < node->post_count; i++)
        add_post(key, &node->posts[i]);
    if (node->before) {
        add_int(key, node->before->op);
        tsr_cache_key_add_bytes(key, node->before->param, sizeof node->before->param);
    }
}

static void add_value(tsr_cache_key *key, const tsr_value *value) {
    add_int(key, value->dtype);
    for (int d = 0; d < value->shape.rank; d++)
        add_int(key, value->shape.dim[d]);
    if (value->data)
        add_sample(key, value);
}

tsr_cache_key tsr_storage_choice_key(const tsr_backend *backend, const tsr_backend_device *device,
                                     const tsr_graph *graph) {
    tsr_device_info info = {.backend = backend->name};
    backend->device_info(device, &info);
    tsr_cache_key key = tsr_cache_key_start();
    const char *const texts[] = {"storage", TSR_VERSION,  backend->kernel_version,
                                 info.name, info.version, backend->name};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tsr_cache_key_add(&key, texts[i]);
    add_int(&key, info.max_texture_size);
    add_int(&key, info.max_draw_buffers);
    for (int i = 0; i < graph->node_count; i++)
        add_node(&key, &graph->nodes[i]);
    for (int v = 0; v < graph->value_count; v++)
        add_value(&key, &graph->values[v]);
    return key;
}

/* ---- finding and keeping --------------------------------------------------------------------- */

static bool read_entry(const void *bytes, size_t size, const tsr_graph *graph,
                       tsr_storage_choice *choice) {
    entry_head head;
    size_t values = (size_t)graph->value_count;
    if (!bytes || size != sizeof head + values)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.value_count != graph->value_count || !(head.error >= 0))
        return false;
    choice->error = head.error;
    choice->precise_weights = head.precise_weights != 0;
    for (size_t v = 0; v < values; v++)
        choice->precise[v] = ((const unsigned char *)bytes)[sizeof head + v] != 0;
    return true;
}

static tsr_kept_choice *find_kept(const tsr_storage_choices *kept, const tsr_cache_key *key) {
    tsr_kept_choice *k = kept->head;
    while (k && !tsr_cache_key_equal(&k->key, key))
        k = k->next;
    return k;
}

bool tsr_storage_choice_find(const tsr_storage_choices *kept, const tsr_cache_key *key,
                             tsr_graph *graph, tsr_storage_choice *choice, tsr_status *status) {
    const tsr_kept_choice *k = find_kept(kept, key);
    *choice = (tsr_storage_choice){.precise = TSR_NEW(graph->arena, graph->value_count, bool)};
    *status = choice->precise
                  ? TSR_OK
                  : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to choose tensors' storage");
    if (*status != TSR_OK)
        return false;
    if (k)
        return read_entry(k->entry, k->size, graph, choice);
    size_t size = 0;
    void *stored = tsr_cache_load(key, &size);
    bool found = read_entry(stored, size, graph, choice);
    tsr_free(stored);
    return found;
}

tsr_status tsr_storage_choice_keep(tsr_storage_choices *kept, const tsr_cache_key *key,
                                   const tsr_graph *graph, const tsr_storage_choice *choice) {
    const entry_head head = {choice->error, graph->value_count, choice->precise_weights};
    size_t size = sizeof head + (size_t)graph->value_count;
    tsr_kept_choice *k = find_kept(kept, key);
    if (!k) {
        k = tsr_calloc(1, sizeof *k + size);
        if (!k)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to keep tensors' storage");
        k->next = kept->head;
        k->key = *key;
        k->size = size;
        kept->head = k;
    }
    memcpy(k->entry, &head, sizeof head);
    for (int v = 0; v < graph->value_count; v++)
        k->entry[sizeof head + (size_t)v] = choice->precise[v];
    tsr_cache_store(key, k->entry, size);
    return TSR_OK;
}

void tsr_storage_choices_clear(tsr_storage_choices *kept) {
    while (kept->head) {
        tsr_kept_choice *next = kept->head->next;
        tsr_free(kept->head);
        kept->head = next;
    }
}
