/* Integer expressions of the template language. */
#ifndef TSR_KERNEL_EXPRESSION_H
#define TSR_KERNEL_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a name of so many characters; false if there is none. */
typedef bool tsr_name_fn(const void *user, const char *name, size_t length, int *value);

/* NULL, or what is wrong with the text of so many characters. */
const char *tsr_expression(const char *text, size_t length, tsr_name_fn *find, const void *user,
                           int *value);

#endif
