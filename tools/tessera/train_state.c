/* State files of `tessera train`. */
#include "tool.h"
#include "train.h"
#include "base/cache.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The file: this head, settings, losses, parts, held-out losses, what tsr_trainer_save() writes,
 * and the checksum of all before it. Numbers are as the machine has them. */
typedef struct state_head {
    char magic[8];
    uint32_t version, steps, parts, held; /* parts: of each step */
    uint64_t settings, trainer;           /* bytes */
} state_head;

typedef struct state_held {
    int64_t step;
    double loss, top1;
} state_held;

static const char magic[8] = "TSRTRAIN";
enum { VERSION = 1 };

/* ---- making ---------------------------------------------------------------------------------- */

static bool append(converted_file *file, const void *bytes, size_t size) {
    return converted_append(file, bytes, size);
}

static bool append_history(const train_history *h, converted_file *file) {
    size_t steps = (size_t)h->count;
    bool good = append(file, h->losses, steps * sizeof *h->losses) &&
                (!h->parts || append(file, h->parts, steps * TRAIN_PARTS * sizeof *h->parts));
    for (int i = 0; i < h->held_count && good; i++) {
        const train_held *held = &h->held[i];
        const state_held stored = {held->step, held->score.loss, held->score.top1};
        good = append(file, &stored, sizeof stored);
    }
    return good;
}

static tsr_status append_trainer(tsr_trainer *trainer, converted_file *file, uint64_t *bytes) {
    size_t before = file->size;
    TRY_LIBRARY(tsr_trainer_save(trainer, converted_append, file));
    *bytes = file->size - before;
    return TSR_OK;
}

tsr_status train_state_make(const char *settings, const train_history *h, tsr_trainer *trainer,
                            converted_file *made) {
    state_head head = {.version = VERSION,
                       .steps = (uint32_t)h->count,
                       .parts = h->parts ? TRAIN_PARTS : 0,
                       .held = (uint32_t)h->held_count,
                       .settings = strlen(settings)};
    memcpy(head.magic, magic, sizeof magic);
    *made = (converted_file){0};
    bool good = append(made, &head, sizeof head) && append(made, settings, head.settings) &&
                append_history(h, made);
    if (good)
        TRY(append_trainer(trainer, made, &head.trainer));
    if (good)
        memcpy(made->bytes, &head, sizeof head);
    uint64_t sum = tsr_cache_checksum(made->bytes, made->size);
    return good && append(made, &sum, sizeof sum)
               ? TSR_OK
               : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the state of training");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether the parts of the file have its size together. */
static bool fits(const state_head *head, size_t size) {
    uint64_t floats = (uint64_t)head->steps * (1 + head->parts) * sizeof(float),
             held = (uint64_t)head->held * sizeof(state_held);
    return (head->parts == 0 || head->parts == TRAIN_PARTS) && head->settings <= size &&
           head->trainer <= size &&
           size == sizeof *head + head->settings + floats + held + head->trainer + sizeof(uint64_t);
}

static tsr_status check(const train_state *s, const char *path, state_head *head) {
    uint64_t sum;
    if (s->size < sizeof *head + sizeof sum || memcmp(s->bytes, magic, sizeof magic) != 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: was not written by --state", path);
    memcpy(head, s->bytes, sizeof *head);
    if (head->version != VERSION)
        return fail(TSR_ERROR_UNSUPPORTED, "%s: has version %u; this program reads %d", path,
                    head->version, VERSION);
    memcpy(&sum, s->bytes + s->size - sizeof sum, sizeof sum);
    return fits(head, s->size) && sum == tsr_cache_checksum(s->bytes, s->size - sizeof sum)
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is cut or changed", path);
}

static tsr_status compare_settings(const char *path, const unsigned char *text, size_t length,
                                   const char *settings) {
    char *before = malloc(length + 1);
    if (!before)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    memcpy(before, text, length);
    before[length] = 0;
    tsr_status status = train_settings_compare(path, before, settings);
    free(before);
    return status;
}

/* Steps at which this run does not measure are left out: such as the one that was the last. */
static const unsigned char *take_held(const unsigned char *at, uint32_t count, int every,
                                      train_history *h) {
    for (uint32_t i = 0; i < count; i++, at += sizeof(state_held)) {
        int64_t last = h->held_count ? h->held[h->held_count - 1].step : -1;
        state_held stored;
        memcpy(&stored, at, sizeof stored);
        if (stored.step > last && stored.step <= h->count && stored.step % every == 0)
            h->held[h->held_count++] = (train_held){(int)stored.step, {stored.loss, stored.top1}};
    }
    return at;
}

static const unsigned char *take_history(const unsigned char *at, const state_head *head, int every,
                                         train_history *h) {
    size_t bytes = head->steps * sizeof *h->losses;
    h->count = (int)head->steps;
    memcpy(h->losses, at, bytes);
    at += bytes;
    if (h->parts)
        memcpy(h->parts, at, bytes * TRAIN_PARTS);
    return take_held(at + bytes * head->parts, head->held, every, h);
}

static tsr_status take(train_state *s, const train_options *o, const char *settings,
                       train_history *h) {
    state_head head;
    TRY(check(s, o->resume, &head));
    const unsigned char *at = s->bytes + sizeof head;
    TRY(compare_settings(o->resume, at, head.settings, settings));
    if (head.steps >= (uint32_t)o->steps)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: has %u steps already, and --steps is %d",
                    o->resume, head.steps, o->steps);
    s->trainer = take_history(at + head.settings, &head, train_every(o), h);
    s->trainer_size = head.trainer;
    return TSR_OK;
}

tsr_status train_state_read(train_state *made, const train_options *o, const char *settings,
                            train_history *h) {
    *made = (train_state){0};
    TRY(file_read(o->resume, &made->bytes, &made->size));
    tsr_status status = take(made, o, settings, h);
    if (status != TSR_OK)
        train_state_free(made);
    return status;
}

void train_state_free(train_state *s) {
    free(s->bytes);
    *s = (train_state){0};
}
