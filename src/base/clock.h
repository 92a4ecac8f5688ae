/* Wall time for reports. */
#ifndef TSR_BASE_CLOCK_H
#define TSR_BASE_CLOCK_H

/* Milliseconds since some fixed moment; never runs backwards. */
double tsr_clock_ms(void);

#endif
