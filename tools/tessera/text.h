/* Human-readable numbers and tables. */
#ifndef TESSERA_TEXT_H
#define TESSERA_TEXT_H

#include "tensor.h"

label bytes_label(uint64_t bytes); /* "12.3 MiB" */
label count_label(double count);   /* "6.05 G" */
label ms_label(double ms);         /* "0.012", "1234.5"; "-" where negative: not measured */
/* A name, which a model or a folder may have chosen, as of tsr_escape(). */
label name_label(const char *name);
/* The same with at most width (4 or more) bytes: a longer name is shortened to its beginning and
 * end with ".." between them. */
label short_label(const char *name, int width);

/* Appends a name to a list "'a', 'b'"; what is beyond its room is cut. */
void name_list_add(char *list, size_t room, const char *name);

/* One line per node of the session. */
tsr_status print_nodes(const tsr_session *session);

#endif
