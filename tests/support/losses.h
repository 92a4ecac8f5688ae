/* A caller whose context or device is lost at the n-th moment of a session's life, whichever that
 * is; sessions that go on. */
#ifndef TESTS_SUPPORT_LOSSES_H
#define TESTS_SUPPORT_LOSSES_H

#include "tessera.h"

typedef struct losing_caller {
    tsr_device_desc (*open)(void); /* a new context or device, to be adopted */
    void (*lose)(void);
    void (*close)(void);
} losing_caller;

/* A moment at which it may be lost: called between the library's calls and as often as the caller
 * can from within. */
void pass_moment(void);

/* Loses the device at `times` moments all over the life of sessions of this model, which is
 * onnx_case() text: a call says so, none succeeds after that, and the session, or one made anew,
 * goes on with equal results on a new device. */
void lose_at_many_moments(const losing_caller *caller, const char *model, int times);

#endif
