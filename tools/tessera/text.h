/* Human-readable numbers and tables. */
#ifndef TESSERA_TEXT_H
#define TESSERA_TEXT_H

#include "tensor.h"

label bytes_label(uint64_t bytes); /* "12.3 MiB" */
label count_label(double count);   /* "6.05 G" */
label ms_label(double ms);         /* "0.012", "1234.5"; "-" where negative: not measured */
/* At most width (4 or more) bytes: a longer name is shortened to its beginning and end with ".."
 * between them. / */
label short_label(const char *name, int width);
/* Bytes of the UTF-8 character at text; 0 if it is invalid or not allowed in XML: names come from
 * the model and can be anything. */
int character_length(const char *text);

/* One line per node of the session. */
tsr_status print_nodes(const tsr_session *session);

#endif
