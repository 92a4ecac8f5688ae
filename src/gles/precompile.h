/* Programs that a driver compiles at their first draws, compiled while a session is prepared. */
#ifndef TSR_GLES_PRECOMPILE_H
#define TSR_GLES_PRECOMPILE_H

#include "gles/runner.h"

/* llvmpipe compiles to machine code in a program's first draw, on the thread that draws, 20 to 150
 * ms each. Here that is done ahead, on this thread and in contexts of other threads, which hand the
 * code over through Mesa's cache on disk. In steps other threads alone do it, and leave transfers
 * to the first run. For other drivers these functions do nothing. Between begin and end. */

/* A phase of building (see src/gpu/phases.h; unit: 0), once the programs of all passes are started
 * and the memory that packing needed is freed. */
tsr_status tsr_gles_start_precompiling(tsr_runner *runner, int unit);
/* Compiles the program of pass i here, once it is finished, unless a thread has begun that. */
tsr_status tsr_gles_precompile_pass(tsr_runner *runner, int i);
/* The same for a transfer's. */
void tsr_gles_precompile_transfer(tsr_runner *runner, tsr_gles_transfer *transfer);
/* A phase after all of them, which waits for the threads and loads what they compiled. */
tsr_status tsr_gles_finish_precompiling(tsr_runner *runner, int unit);
/* Ends the threads, after the programs that they are compiling. At any time: makes no GL calls. */
void tsr_gles_stop_precompiling(tsr_runner *runner);

#endif
