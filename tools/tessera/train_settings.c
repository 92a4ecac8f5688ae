/* What runs have in common of which one goes on from the other. */
#define _POSIX_C_SOURCE 200809L
#include "converted.h"
#include "tool.h"
#include "train.h"
#include "base/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

static tsr_status put_model(FILE *file, const char *what, const tsr_model *model) {
    converted_file written;
    tsr_status status = converted_write(model, &(tsr_write_desc){.keep_nodes = true}, &written);
    if (status == TSR_OK)
        fprintf(file, "%s (checksum %016" PRIx64 ")\n", what,
                tsr_cache_checksum(written.bytes, written.size));
    free(written.bytes);
    return status;
}

static void put_samples(FILE *file, const train_set *s) {
    fprintf(file, "%d samples of", s->files.count);
    for (int k = 0; k < s->side_count; k++)
        fprintf(file, "%s '%s' %s", k ? " and" : "", s->sides[k].info.name,
                shape_label(&s->sides[k].info.shape).text);
    fprintf(file, " (checksum %016" PRIx64 ")\n", s->checksum);
    fprintf(file, "%d samples held out\n--batch %d\n", s->held, s->batch);
}

static void put_option(FILE *file, const option *item) {
    const text_list *list = item->target;
    int number = item->kind == OPTION_INT || item->kind == OPTION_CHOICE ? *(int *)item->target : 0;
    switch (item->kind) {
    case OPTION_INT:
        fprintf(file, "--%s %d\n", item->name, number);
        return;
    case OPTION_NUMBER:
        if (*(double *)item->target < 0)
            fprintf(file, "--%s as usual\n", item->name);
        else
            fprintf(file, "--%s %.9g\n", item->name, *(double *)item->target);
        return;
    case OPTION_CHOICE:
        fprintf(file, "--%s %s\n", item->name, number < 0 ? "as usual" : item->choices[number]);
        return;
    case OPTION_LIST:
        fprintf(file, "--%s", item->name);
        for (int i = 0; i < list->count; i++)
            fprintf(file, "%c%s", i ? ',' : ' ', list->items[i]);
        fputc('\n', file);
        return;
    default: /* a flag */
        fprintf(file, "%s--%s\n", *(bool *)item->target ? "" : "no ", item->name);
    }
}

static tsr_status put_all(FILE *file, train_options *o, const train_set *s, const tsr_model *model,
                          const tsr_model *discriminator) {
    option_set set = {.count = 0};
    TRY(put_model(file, "the model", model));
    if (discriminator)
        TRY(put_model(file, "a discriminator", discriminator));
    else
        fputs("no discriminator\n", file);
    put_samples(file, s);
    train_add_learning_options(&set, o);
    for (int i = 0; i < set.count; i++)
        put_option(file, &set.items[i]);
    if (o->schedule != TSR_SCHEDULE_CONSTANT)
        fprintf(file, "--steps %d\n", o->steps);
    return TSR_OK;
}

tsr_status train_settings_make(train_options *o, const train_set *s, const tsr_model *model,
                               const tsr_model *discriminator, char **made) {
    size_t size;
    *made = NULL;
    FILE *file = open_memstream(made, &size);
    tsr_status status = file ? put_all(file, o, s, model, discriminator) : TSR_ERROR_OUT_OF_MEMORY;
    if (!file || fclose(file) != 0)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the options");
    return status;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static size_t line_length(const char *text) {
    return strcspn(text, "\n");
}

static const char *next_line(const char *text) {
    text += line_length(text);
    return text + (*text == '\n');
}

static bool is_same(const char *a, const char *b) {
    size_t length = line_length(a);
    return length == line_length(b) && memcmp(a, b, length) == 0;
}

/* Options by which a run that has lost itself is mended. */
static bool may_change(const char *line) {
    return strncmp(line, "--rate ", 7) == 0 || strncmp(line, "--clip ", 7) == 0;
}

/* strict: refuses what has to be the same; else notes what may differ. */
static tsr_status compare(const char *path, const char *before, const char *now, bool strict) {
    for (; *before || *now; before = next_line(before), now = next_line(now)) {
        int lengths[] = {(int)line_length(before), (int)line_length(now)};
        if (is_same(before, now) || (may_change(before) && may_change(now)) == strict)
            continue;
        if (strict)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is of a run with '%.*s', this has '%.*s'",
                        path, lengths[0], before, lengths[1], now);
        note("%s: is of a run with '%.*s', and goes on with '%.*s'", path, lengths[0], before,
             lengths[1], now);
    }
    return TSR_OK;
}

tsr_status train_settings_compare(const char *path, const char *before, const char *now) {
    TRY(compare(path, before, now, true));
    return compare(path, before, now, false);
}
