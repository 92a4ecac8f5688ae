/* Dead-code elimination in program texts: removes unused functions and constants. */
#ifndef TSR_KERNEL_PRUNE_H
#define TSR_KERNEL_PRUNE_H

#include "kernel/kernel.h"

/* Replaces the text, which is from tsr_malloc(), by one without the functions and constants that
 * main does not use, directly or indirectly; NULL when out of memory, or for NULL. Text that is not
 * understood is kept, so that the compiler reports errors in it. Functions have to begin at the
 * first column. */
char *tsr_prune(char *text, tsr_language language);

#endif
