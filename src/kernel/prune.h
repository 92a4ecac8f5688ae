/* Leaves functions and constants that are not used out of a program. */
#ifndef TSR_KERNEL_PRUNE_H
#define TSR_KERNEL_PRUNE_H

#include "kernel/kernel.h"

/* Replaces the text, which is from malloc, by one that holds only functions and constants that main
 * uses, directly or through others; NULL without memory. What cannot be read stays: a compiler
 * tells what is wrong with it. Functions begin at the first column; NULL stays NULL. */
char *tsr_prune(char *text, tsr_language language);

#endif
