/* Windows of Conv, ConvTranspose and pools, as attributes of the operators that their gradients are
 * made of. */
#ifndef TSR_PASSES_GRADIENT_WINDOW_H
#define TSR_PASSES_GRADIENT_WINDOW_H

#include "graph/infer.h"
#include "passes/gradient_rules.h"

/* The window of the node that is differentiated; false after a failure. */
bool tsr_grad_read_window(tsr_gradient_call *g, tsr_window *window);

/* Attributes that say where the window is, pads being given. */
enum { TSR_GRAD_WINDOW_ATTRS = 6 };
/* strides, pads, dilations, kernel_shape; returns how many. */
int tsr_grad_window_attrs(tsr_gradient_call *g, const tsr_window *window,
                          tsr_attr attrs[TSR_GRAD_WINDOW_ATTRS]);

/* The gradient of what the window is slid over: ConvTranspose of that of the result. */
int tsr_grad_slide_back(tsr_gradient_call *g, const tsr_window *window, int dy, int weights);

#endif
