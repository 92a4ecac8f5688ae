/* The trainer that options ask for. */
#include "tool.h"
#include "train.h"

#include <math.h>
#include <stdlib.h>

static tsr_trainer_desc describe(const train_set *s, const job *j, const tsr_loss_term *terms,
                                 const tsr_session_desc *shapes) {
    const train_options *o = s->o;
    return (tsr_trainer_desc){
        .losses = terms,
        .loss_count = s->side_count - s->input_count,
        .update = (tsr_update)o->update,
        .learning_rate = (float)o->rate,
        .beta1 = (float)fmax(o->beta1, 0),
        .momentum = (float)o->momentum,
        .nesterov = o->nesterov,
        .weight_decay = (float)o->weight_decay,
        .clip_norm = (float)o->clip,
        .schedule = (tsr_schedule)o->schedule,
        .steps = o->schedule == TSR_SCHEDULE_CONSTANT ? 0 : o->steps,
        .warmup_steps = o->warmup,
        .hold_steps = o->hold,
        .average_decay = (float)o->average,
        .adversarial = (tsr_adversarial)(o->adversarial > 0 ? o->adversarial : 0),
        .adversarial_weight = (float)fmax(o->adversarial_weight, 0),
        .spectral_norm = o->spectral_norm,
        .freeze = (const char *const *)o->freeze.items,
        .freeze_count = o->freeze.count,
        .seed = (uint32_t)o->job.seed,
        .dims = shapes->dims,
        .dim_count = shapes->dim_count,
        .shapes = shapes->shapes,
        .shape_count = shapes->shape_count,
        .tune_ms = o->job.tune_ms,
        .recompute = o->recompute,
        .progress = {progress_of_call, (void *)j->path},
    };
}

/* By target; free() it. NULL: there is not enough memory. */
static tsr_loss_term *make_terms(const train_set *s, tsr_loss loss) {
    const train_side *targets = s->sides + s->input_count;
    int count = s->side_count - s->input_count;
    tsr_loss_term *terms = calloc((size_t)count, sizeof *terms);
    for (int i = 0; terms && i < count; i++)
        terms[i] = (tsr_loss_term){
            .output = targets[i].info.name,
            .loss = loss,
            .weight = targets[i].weight,
            .range = loss == TSR_LOSS_SSIM ? (float)train_side_range(&targets[i]) : 0};
    return terms;
}

tsr_status train_make_trainer(const train_set *s, const job *j, tsr_loss loss, tsr_device *device,
                              const tsr_model *discriminator, tsr_trainer **made) {
    tsr_session_desc shapes = {0};
    tsr_loss_term *terms = make_terms(s, loss);
    tsr_status status = terms ? job_describe_shapes(j, &shapes)
                              : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for losses");
    if (status == TSR_OK) {
        tsr_trainer_desc desc = describe(s, j, terms, &shapes);
        desc.discriminator = discriminator;
        status = train_set_augment(s, &desc);
        if (status == TSR_OK && (status = tsr_trainer_create(device, j->model, &desc, made)))
            fail_library(status);
        progress_clear();
    }
    job_free_shapes(&shapes);
    free(terms);
    return status;
}
