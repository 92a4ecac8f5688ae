#include "autotune/tuned_layers.h"

#include "base/allocator.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void tsr_tuned_layers_free(tsr_tuned_layers *tuned) {
    tsr_free(tuned->layers);
    *tuned = (tsr_tuned_layers){0};
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int append(tsr_tuned_layers *tuned, const tsr_layer_key *key, const tsr_timings *timings) {
    if (tuned->count == tuned->capacity) {
        int capacity = tuned->capacity ? 2 * tuned->capacity : 32;
        tsr_tuned_layer *grown = tsr_realloc(tuned->layers, (size_t)capacity * sizeof *grown);
        if (!grown)
            return TSR_NONE;
        tuned->layers = grown;
        tuned->capacity = capacity;
    }
    tuned->layers[tuned->count] = (tsr_tuned_layer){*key, *timings};
    return tuned->count++;
}

static int find_exact(const tsr_tuned_layers *tuned, const tsr_layer_key *key) {
    for (int i = 0; i < tuned->count; i++)
        if (tsr_cache_key_equal(&tuned->layers[i].key.exact, &key->exact))
            return i;
    return TSR_NONE;
}

static int find_any_size(const tsr_tuned_layers *tuned, const tsr_layer_key *key) {
    for (int i = 0; i < tuned->count; i++)
        if (tsr_cache_key_equal(&tuned->layers[i].key.any_size, &key->any_size) &&
            tuned->layers[i].timings.best != TSR_NONE)
            return i;
    return TSR_NONE;
}

/* ---- the cache on disk ----------------------------------------------------------------------- */

/* The best one's line first: "conv_direct 125000", in nanoseconds. */
static void store(const tsr_layer_key *key, const tsr_timings *timings) {
    tsr_text text = {0};
    for (int i = 0; i < timings->count; i++) {
        int k = i == 0 ? timings->best : i <= timings->best ? i - 1 : i;
        tsr_text_add(&text, "%s %lld\n", timings->list[k].algorithm,
                     (long long)(timings->list[k].ms * 1e6));
    }
    char *chars = tsr_text_take(&text);
    if (chars) {
        tsr_cache_store(&key->exact, chars, strlen(chars));
        tsr_cache_store(&key->any_size, chars, strlen(chars));
    }
    tsr_free(chars);
}

/* "conv_direct 1234567"; NULL if it is not, else the next line. */
static const char *parse_line(const char *text, tsr_timing *timing) {
    char name[64] = "", *end;
    size_t length = strcspn(text, " \n");
    if (length >= sizeof name || text[length] != ' ')
        return NULL;
    memcpy(name, text, length);
    timing->algorithm = tsr_algorithm_name(name);
    timing->ms = (double)strtoll(text + length, &end, 10) * 1e-6;
    if (!timing->algorithm || (*end != '\n' && *end != '\0'))
        return NULL;
    return end + (*end == '\n');
}

/* Stops at the first invalid line. */
static tsr_timings parse(const char *text) {
    tsr_timings timings = {.best = TSR_NONE};
    while (timings.count < TSR_ALGORITHMS &&
           (text = parse_line(text, &timings.list[timings.count])) != NULL) {
        timings.count++;
        timings.best = 0;
    }
    return timings;
}

static bool load(const tsr_cache_key *key, tsr_timings *timings) {
    size_t size = 0;
    char *bytes = tsr_cache_load(key, &size);
    char *text = bytes ? tsr_realloc(bytes, size + 1) : NULL;
    if (!text) {
        tsr_free(bytes);
        return false;
    }
    text[size] = '\0';
    *timings = parse(text);
    tsr_free(text);
    return timings->best != TSR_NONE;
}

int tsr_tuned_layers_find(tsr_tuned_layers *tuned, const tsr_layer_key *key, bool any_size) {
    tsr_timings timings;
    int found = find_exact(tuned, key);
    if (found != TSR_NONE)
        return found;
    if (load(&key->exact, &timings))
        return append(tuned, key, &timings);
    if (!any_size)
        return TSR_NONE;
    found = find_any_size(tuned, key);
    if (found != TSR_NONE || !load(&key->any_size, &timings))
        return found;
    const tsr_layer_key of_another = {.any_size = key->any_size};
    return append(tuned, &of_another, &timings);
}

int tsr_tuned_layers_add(tsr_tuned_layers *tuned, const tsr_layer_key *key,
                         const tsr_timings *timings, bool to_disk) {
    int known = find_exact(tuned, key);
    if (to_disk)
        store(key, timings);
    if (known == TSR_NONE)
        return append(tuned, key, timings);
    tuned->layers[known].timings = *timings;
    return known;
}
