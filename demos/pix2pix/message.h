/* What went wrong, in a sentence: on stderr, and kept for the window's status line. */
#ifndef PIX2PIX_MESSAGE_H
#define PIX2PIX_MESSAGE_H

#include <stdbool.h>

#if defined(__GNUC__)
#define PRINTF_LIKE __attribute__((format(printf, 1, 2)))
#else
#define PRINTF_LIKE
#endif

/* Returns false, for functions that fail with it. Main thread only. */
bool complain(const char *format, ...) PRINTF_LIKE;
/* For the status line alone: what was done. */
void announce(const char *format, ...) PRINTF_LIKE;
const char *latest_message(void);

#endif
