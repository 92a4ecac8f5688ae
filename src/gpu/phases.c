#include "gpu/phases.h"

#include "base/clock.h"
#include "base/error.h"

tsr_status tsr_gpu_work(tsr_runner *runner, const tsr_gpu_phase *phases, int count,
                        tsr_gpu_steps *s, double ms) {
    s->deadline = tsr_clock_ms() + ms;
    for (; s->phase < count; s->phase++, s->unit = 0)
        while (s->unit < phases[s->phase].units) {
            TSR_TRY(phases[s->phase].work(runner, s->unit));
            s->unit++;
            if (tsr_clock_ms() >= s->deadline)
                return TSR_NOT_READY;
        }
    return TSR_OK;
}
