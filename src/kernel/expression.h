/* Integer expressions of the template language. */
#ifndef TSR_KERNEL_EXPRESSION_H
#define TSR_KERNEL_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a name of `length` characters; false if it is unknown. */
typedef bool tsr_name_fn(const void *user, const char *name, size_t length, int *value);

/* Evaluates a text of `length` characters; NULL, or the reason why it is invalid. */
const char *tsr_expression(const char *text, size_t length, tsr_name_fn *find, const void *user,
                           int *value);

#endif
