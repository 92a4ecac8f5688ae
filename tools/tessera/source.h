/* A sequence of tensors for one input: the files of a folder or of a pattern, sorted by name, or
 * the frames of a film. */
#ifndef TESSERA_SOURCE_H
#define TESSERA_SOURCE_H

#include "film.h"
#include "job.h"
#include "shard.h"

typedef struct source_frame { /* of rgb24; width 0: none given */
    int width, height;
} source_frame;

typedef struct source_item {
    char *name; /* the file's, without folder and extension, or "000012" of a frame (malloc) */
    const char *path; /* the source's; NULL: a frame */
    tensor tensor;
    image_side side;
} source_item;

typedef struct source {
    job *job;
    job_input *input;
    job_input open; /* the input as it was at first, whatever sizes it has now */
    shard shard;
    bool own_sizes;  /* items have the shapes that single runs give them, else that of the first */
    tsr_shape shape; /* that the next item gets, with open sizes */
    bool shaped, resized; /* shape is known; it is not as the model declares it */
    bool was_resized;     /* the job, at first */
    int width, height;    /* of the picture that shape is for; 0: it is for none */
    char **paths;         /* of all shards; NULL: frames. Those left out are NULL */
    int64_t path_count;
    film_reader film;
    int64_t at;                /* the next item, counted over all shards */
    int64_t skipped, left_out; /* of this shard */
} source;

/* Whether this is a folder, a pattern that is not a file, a film, or "-". */
bool source_is_many(const char *path);

/* "WxH" */
tsr_status source_parse_frame(const char *text, source_frame *frame);

/* Lists the files of j's input, or prepares for frames. */
tsr_status source_open(source *s, job *j, job_input *input, shard shard, source_frame frame);
void source_close(source *s);

/* The shape and the name of the film, or of the first file that can be read: the same for every
 * shard. */
tsr_status source_shape(source *s, tsr_shape *shape, const char **name);
/* Gives the input this shape, of the item that was read last. */
void source_set_shape(const source *s, const tsr_shape *shape);

/* The next item of the shard; its name is NULL when there is none left. Unsuitable files are
 * reported on stderr and skipped. */
tsr_status source_next(source *s, source_item *item);
void source_item_free(source_item *item);

/* Reports the latest failure as that of an item which is left out. */
void source_skip(source *s);

/* Whether source_next() would block. */
bool source_waits(const source *s);

/* Files of this shard for which done(user, name) is true are not read. After source_shape(), which
 * is the same for every run. */
void source_leave_out(source *s, bool (*done)(const void *user, const char *name),
                      const void *user);

/* Number of items of this shard that are left; -1: unknown. */
int64_t source_count(const source *s);

/* A file's name without folder and extension (malloc). */
char *source_name(const char *path);

#endif
