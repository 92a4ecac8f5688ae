/* Status, messages and logging. A function that fails reports once, where it knows the reason, with
 * tsr_fail() of tessera.h; callers that know more (the node, the file) prefix it with
 * tsr_fail_context(). */
#ifndef TSR_BASE_ERROR_H
#define TSR_BASE_ERROR_H

#include "tessera.h"

/* Prefixes this thread's message with "prefix: " and returns status; does nothing for TSR_OK. */
tsr_status tsr_fail_context(tsr_status status, const char *format, ...) TSR_PRINTF(2, 3);

/* As tsr_fail(), with TSR_ERROR_UNSUPPORTED, for want of elements that are known only at run time.
 */
tsr_status tsr_fail_until_run(const char *format, ...) TSR_PRINTF(1, 2);
/* Was this thread's last failure such a one? */
bool tsr_failed_until_run(void);

/* A build can do without the texts of files that only the loading of a model calls (tools/web.sh):
 * another build loads it again, and tells why it fails. Arguments are not evaluated. */
#ifdef TSR_WITHOUT_MESSAGES
#define tsr_fail(status, ...) (status)
#define tsr_fail_context(status, ...) (status)
#define tsr_fail_until_run(...) TSR_ERROR_UNSUPPORTED
#endif

void tsr_log(tsr_log_level level, const char *format, ...) TSR_PRINTF(2, 3);
/* Each line is a message. */
void tsr_log_lines(tsr_log_level level, const char *text);

/* Returns from the calling function if the expression is not TSR_OK. */
#define TSR_TRY(expression)                                                                        \
    do {                                                                                           \
        tsr_status try_status_ = (expression);                                                     \
        if (try_status_ != TSR_OK)                                                                 \
            return try_status_;                                                                    \
    } while (0)

#endif
