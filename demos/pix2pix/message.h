/* Messages: printed to stderr, and kept for the window's status line. */
#ifndef PIX2PIX_MESSAGE_H
#define PIX2PIX_MESSAGE_H

#include <stdbool.h>

#if defined(__GNUC__)
#define PRINTF_LIKE __attribute__((format(printf, 1, 2)))
#else
#define PRINTF_LIKE
#endif

/* Reports a failure and returns false. Main thread only. */
bool complain(const char *format, ...) PRINTF_LIKE;
/* For the status line only. */
void announce(const char *format, ...) PRINTF_LIKE;
const char *latest_message(void);

#endif
