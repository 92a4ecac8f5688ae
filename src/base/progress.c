#include "base/progress.h"

void tsr_progress_stage(tsr_progress_meter *m, double share_of_rest) {
    if (!m)
        return;
    m->begin = m->end;
    m->end += (1 - m->end) * share_of_rest;
}

tsr_progress_meter tsr_progress_part(const tsr_progress_meter *m, int i, int n) {
    if (!m)
        return (tsr_progress_meter){0};
    double size = (m->end - m->begin) / n;
    return (tsr_progress_meter){m->caller, m->begin + size * i, m->begin + size * (i + 1)};
}

tsr_status tsr_progress_report(const tsr_progress_meter *m, const char *what, int64_t done,
                               int64_t total) {
    if (!m || !m->caller.fn)
        return TSR_OK;
    double part = total > 0 ? (double)done / (double)total : 1;
    return m->caller.fn(m->caller.user, what, m->begin + (m->end - m->begin) * part)
               ? TSR_OK
               : tsr_fail(TSR_ERROR_CANCELLED, "cancelled while %s", what);
}
