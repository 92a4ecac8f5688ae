/* An EGL context that is lost, as drivers' that reset their GPU: then GL calls do nothing, fences
 * have passed, nothing can be mapped, and glGetError() and glGetGraphicsResetStatus() say so. */
#ifndef TESTS_SUPPORT_GL_LOSS_H
#define TESTS_SUPPORT_GL_LOSS_H

#include "support/losses.h"

#include <stdbool.h>

extern const losing_caller losing_context; /* passes a moment at most GL calls */

/* Can contexts be made here? */
bool has_losing_context(void);

#endif
