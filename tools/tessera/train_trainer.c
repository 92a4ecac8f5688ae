/* The trainer that options ask for. */
#include "tool.h"
#include "train.h"

static tsr_trainer_desc describe(const train_set *s, const job *j, tsr_loss loss,
                                 const tsr_session_desc *shapes) {
    const train_options *o = s->o;
    return (tsr_trainer_desc){
        .loss = loss,
        .range = loss == TSR_LOSS_SSIM ? (float)train_set_range(s) : 0,
        .update = (tsr_update)o->update,
        .learning_rate = (float)o->rate,
        .beta1 = (float)o->beta1,
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
        .adversarial_weight = (float)o->adversarial_weight,
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

tsr_status train_make_trainer(const train_set *s, const job *j, tsr_loss loss, tsr_device *device,
                              const tsr_model *discriminator, tsr_trainer **made) {
    tsr_session_desc shapes = {0};
    tsr_status status = job_describe_shapes(j, &shapes);
    if (status == TSR_OK) {
        tsr_trainer_desc desc = describe(s, j, loss, &shapes);
        desc.discriminator = discriminator;
        train_set_augment(s, &desc);
        status = tsr_trainer_create(device, j->model, &desc, made);
        progress_clear();
        if (status != TSR_OK)
            fail_library(status);
    }
    job_free_shapes(&shapes);
    return status;
}
