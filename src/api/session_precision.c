/* Sessions with TSR_PRECISION_AUTO: their storage is chosen by a calibration, once for a device and
 * graph. */
#include "api/session.h"

#include "api/calibrate.h"
#include "base/error.h"

static tsr_cache_key key_of(const tsr_session *session) {
    return tsr_storage_choice_key(session->device->backend, session->device->impl, session->graph);
}

/* Sets what the next runner stores. */
static void take_choice(tsr_session *session, const tsr_storage_choice *choice) {
    session->storage = *choice;
    session->chosen = true;
    session->options.precision = TSR_PRECISION_FP16;
    session->options.precise = session->storage.precise;
    session->options.precise_weights = session->storage.precise_weights;
}

tsr_status tsr_session_find_storage(tsr_session *session) {
    const tsr_cache_key key = key_of(session);
    tsr_storage_choice choice;
    tsr_status status;
    if (tsr_storage_choice_find(&session->device->storage, &key, session->graph, &choice, &status))
        take_choice(session, &choice);
    else
        session->options.precision = TSR_PRECISION_FP32;
    return status;
}

tsr_status tsr_session_store_as(tsr_session *session, const tsr_storage_choice *choice,
                                const tsr_input_copies *inputs) {
    const tsr_runner_options before = session->options;
    const tsr_backend *backend = session->device->backend;
    tsr_runner *made;
    take_choice(session, choice);
    session->options.prepare_in_steps = false;
    session->options.progress = NULL;
    tsr_status status =
        backend->runner_create(session->device->impl, session->graph, &session->options, &made);
    session->options.prepare_in_steps = before.prepare_in_steps;
    session->options.progress = before.progress;
    if (status == TSR_OK && (status = tsr_input_copies_give(session, made, inputs)) != TSR_OK)
        backend->runner_destroy(made);
    if (status != TSR_OK) {
        session->options = before;
        session->chosen = false;
        return status;
    }
    if (backend->transfer_outputs)
        backend->transfer_outputs(made, !session->keeps_outputs);
    backend->runner_destroy(session->runner);
    session->runner = made;
    session->submitted = session->latest = session->slot = 0;
    tsr_late_forget(session->late);
    return TSR_OK;
}

static tsr_status calibrate(tsr_session *session, const tsr_input_copies *inputs) {
    tsr_storage_choice choice = {
        .precise = TSR_NEW(session->graph->arena, session->graph->value_count, bool)};
    if (!choice.precise)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to calibrate");
    TSR_TRY(tsr_choose_storage(session, inputs, &choice));
    const tsr_cache_key key = key_of(session);
    TSR_TRY(tsr_storage_choice_keep(&session->device->storage, &key, session->graph, &choice));
    return tsr_session_store_as(session, &choice, inputs);
}

tsr_status tsr_session_calibrate(tsr_session *session) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_calibrate: session is NULL");
    if (session->precision != TSR_PRECISION_AUTO)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: only a session with TSR_PRECISION_AUTO is calibrated",
                        session->graph->file);
    TSR_TRY(tsr_session_check_inputs(session));
    if (session->chosen || !session->is_auto)
        return TSR_OK;
    if (session->weights_replaced)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: calibrate before tsr_session_set_weights()", session->graph->file);
    tsr_input_copies inputs = {0};
    session->stepping = false;
    tsr_status status = tsr_input_copies_take(session, &inputs);
    if (status == TSR_OK)
        status = calibrate(session, &inputs);
    tsr_input_copies_free(&inputs);
    return status == TSR_OK ? status : tsr_session_name_file(status, session->graph);
}
