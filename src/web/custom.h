/* Custom operators of the model that is read next. */
#ifndef TSR_WEB_CUSTOM_H
#define TSR_WEB_CUSTOM_H

#include "tessera.h"

/* NULL for none. */
const tsr_custom_op *tsr_web_operators(int *count);

#endif
