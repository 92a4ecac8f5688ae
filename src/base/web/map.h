/* The file that tsr_map_open() opens in a page. */
#ifndef TSR_BASE_WEB_MAP_H
#define TSR_BASE_WEB_MAP_H

#include "base/map.h"

/* Takes over bytes that malloc() gave, in place of earlier ones that were not opened. */
void tsr_map_give(void *bytes, size_t size);

#endif
