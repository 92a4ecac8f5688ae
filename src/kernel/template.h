/* The template language of the kernels in glsl/ and wgsl/:
 *
 *     #if EXPRESSION, #elif EXPRESSION, #else, #endif
 *     #for i EXPRESSION ... #endfor   repeats the lines between, i from 0 to the value - 1
 *     #include stem                   another file
 *     $i                              the value of a loop's variable; letters and digits
 *     $S                              the name of input number s
 *     ${EXPRESSION}                   its value
 *     u.NAME, u.NAME.MEMBER           a parameter of the kernel
 *
 * A directive has a line of its own. Expressions are of integers: numbers, names, loop variables,
 * ( ), * / %, + -, comparisons, &&, ||. #define and #extension are the shading language's own. An
 * unknown name or file, a directive that is not closed, or more than 16 MiB of text, lines in loops
 * counted each time, is an error. */
#ifndef TSR_KERNEL_TEMPLATE_H
#define TSR_KERNEL_TEMPLATE_H

#include "base/text.h"

typedef struct tsr_template_name {
    const char *name;
    int value;
} tsr_template_name;

/* What replaces u.<name>. */
typedef struct tsr_template_param {
    char name[80], text[40];
} tsr_template_param;

typedef struct tsr_template {
    const tsr_template_name *names;
    int name_count;
    const char *const *inputs;
    int input_count;
    const tsr_template_param *params;
    int param_count;
    const char *(*find_file)(const char *stem); /* NULL if there is none */
} tsr_template;

/* Appends the expansion of a text. */
tsr_status tsr_template_expand(tsr_text *out, const char *text, const tsr_template *t);
/* The same of a file; the failure names it. */
tsr_status tsr_template_expand_file(tsr_text *out, const char *stem, const tsr_template *t);

#endif
