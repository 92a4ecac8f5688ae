/* Runs of a session: complete, in steps, several in flight. */
#include "api/session.h"

#include <string.h>

#include "base/error.h"

static void select_slot(tsr_session *session, int slot) {
    const tsr_backend *backend = session->device->backend;
    session->slot = slot;
    if (backend->select_run)
        backend->select_run(session->runner, slot);
}

float *tsr_session_kept_run(const tsr_session *session, const tsr_kept_output *kept) {
    return kept->runs + kept->count * (size_t)session->slot;
}

static tsr_status keep_output(tsr_session *session, const tsr_kept_output *k) {
    const tsr_elements to = tsr_elements_of_floats(tsr_session_kept_run(session, k), k->count);
    return session->device->backend->get_output(session->runner, k->value, &to);
}

static tsr_status keep_outputs(tsr_session *session) {
    for (int i = 0; i < session->kept_count; i++) {
        const tsr_kept_output *k = &session->kept_outputs[i];
        if (k->count == 0)
            continue;
        if (k->next)
            memcpy(tsr_session_kept_run(session, k), k->next, k->count * sizeof(float));
        else
            TSR_TRY(keep_output(session, k));
    }
    return TSR_OK;
}

tsr_status tsr_session_check_can_run(const tsr_session *session) {
    if (session->prepared == TSR_ERROR_DEVICE_LOST)
        return tsr_fail(TSR_ERROR_DEVICE_LOST,
                        "%s: the device was lost before the session was ready",
                        session->graph->file);
    const char *why = session->plan_only                   ? "this session was made to plan only"
                      : session->prepared == TSR_NOT_READY ? "the session is not prepared yet"
                      : session->prepared != TSR_OK        ? "the session could not be prepared"
                                                           : NULL;
    return why ? tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s", session->graph->file, why) : TSR_OK;
}

tsr_status tsr_session_check_inputs(const tsr_session *session) {
    const tsr_graph *graph = session->graph;
    TSR_TRY(tsr_session_check_can_run(session));
    for (int i = 0; i < graph->input_count; i++)
        if (!session->input_set[i])
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: input '%s' %s has not been set",
                            graph->file, graph->values[graph->inputs[i]].name,
                            tsr_shape_text(&graph->values[graph->inputs[i]].shape));
    return TSR_OK;
}

/* After a run was submitted to the backend, or failed to be. */
static tsr_status end_submit(tsr_session *session, tsr_status status) {
    if (status == TSR_OK)
        status = keep_outputs(session);
    tsr_late_forget(session->late);
    session->submitted += session->submitted < session->runs_in_flight;
    if (status != TSR_OK)
        session->submitted = 0;
    return tsr_session_name_file(status, session->graph);
}

tsr_status tsr_session_submit(tsr_session *session) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_submit: session is NULL");
    TSR_TRY(tsr_session_check_inputs(session));
    session->stepping = false;
    session->latest = (session->latest + 1) % session->runs_in_flight;
    select_slot(session, session->latest);
    return end_submit(session, session->device->backend->submit(session->runner));
}

tsr_status tsr_session_transfer_outputs(tsr_session *session, bool transfer) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_transfer_outputs: session is NULL");
    session->keeps_outputs = !transfer;
    if (session->device->backend->transfer_outputs)
        session->device->backend->transfer_outputs(session->runner, transfer);
    return TSR_OK;
}

tsr_status tsr_session_step(tsr_session *session, double ms) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_step: session is NULL");
    TSR_TRY(tsr_session_check_inputs(session));
    const tsr_backend *backend = session->device->backend;
    if (session->runs_in_flight > 1)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: no steps with several runs in flight",
                        session->graph->file);
    bool begin = !session->stepping;
    if (backend->step) {
        session->submitted = 0;
        tsr_status status = backend->step(session->runner, begin, ms);
        session->stepping = status == TSR_NOT_READY;
        if (session->stepping)
            return status;
        TSR_TRY(end_submit(session, status));
        return tsr_session_compute_late(session);
    }
    if (begin)
        TSR_TRY(tsr_session_submit(session));
    tsr_status status = backend->poll(session->runner);
    session->stepping = status == TSR_NOT_READY;
    return status == TSR_OK ? tsr_session_compute_late(session) : status;
}

tsr_status tsr_session_check_submitted(const tsr_session *session) {
    return session->submitted ? TSR_OK
                              : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s", session->graph->file,
                                         session->stepping ? "the run in steps is not complete yet"
                                                           : "the session has not run yet");
}

tsr_status tsr_session_select_run(tsr_session *session, int age) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_select_run: session is NULL");
    TSR_TRY(tsr_session_check_submitted(session));
    if (age < 0 || age >= session->submitted)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: of %d runs that can be read there is none %d before the latest",
                        session->graph->file, session->submitted, age);
    int count = session->runs_in_flight;
    select_slot(session, (session->latest + count - age) % count);
    return TSR_OK;
}

tsr_status tsr_session_poll(tsr_session *session) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_poll: session is NULL");
    TSR_TRY(tsr_session_check_submitted(session));
    TSR_TRY(session->device->backend->poll(session->runner));
    return tsr_session_compute_late(session);
}

tsr_status tsr_session_run(tsr_session *session) {
    TSR_TRY(tsr_session_submit(session));
    const tsr_backend *backend = session->device->backend;
    if (backend->wait)
        TSR_TRY(backend->wait(session->runner));
    return tsr_session_compute_late(session);
}
