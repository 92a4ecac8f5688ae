/* Wall time for reports. */
#ifndef TSR_BASE_CLOCK_H
#define TSR_BASE_CLOCK_H

/* Milliseconds of a monotonic clock. */
double tsr_clock_ms(void);

#endif
