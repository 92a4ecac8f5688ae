/* The text of a WGSL kernel with its directives carried out, since WGSL has no preprocessor:
 *
 *     #if NAME, #if A == B (also != < > <= >=), #elif, #else, #endif
 *     #for i N ... #endfor     the lines between N times; in them $i is 0 .. N - 1, $I is A, B, ...
 *     #include stem            the file wgsl/<stem>.wgsl
 *
 * A directive has a line of its own; an operand is a name or a number; a loop variable is a small
 * letter. An unknown name, variable or file, or a directive that is not closed, is an error. */
#ifndef TSR_WEBGPU_TEMPLATE_H
#define TSR_WEBGPU_TEMPLATE_H

#include "base/text.h"

typedef struct tsr_template_name {
    const char *name;
    int value;
} tsr_template_name;

/* Appends the expansion. names: ended by one that is NULL. */
tsr_status tsr_template_expand(tsr_text *out, const char *text, const tsr_template_name *names);

/* The text of wgsl/<stem>.wgsl; NULL if there is none. */
const char *tsr_template_find(const char *stem);

#endif
