/* The rules of gradients, one for each operator that has one, and what they share. */
#ifndef TSR_PASSES_GRADIENT_RULES_H
#define TSR_PASSES_GRADIENT_RULES_H

#include "passes/build.h"

/* A node whose inputs' gradients are to be made. */
typedef struct tsr_gradient_call {
    tsr_builder b;        /* of its gradients; constants that it makes are of the type of dy */
    const tsr_node *node; /* that is differentiated */
    int x, y;             /* its input 0 and output 0 */
    int dy;               /* the gradient of output 0; TSR_NONE if the loss does not depend on it */
    struct tsr_gradients *all;
} tsr_gradient_call;

/* Gives the gradient of each input that is wanted. */
typedef void tsr_gradient_fn(tsr_gradient_call *g);

#define TSR_GRADIENT(Name, rule) tsr_gradient_fn tsr_gradient_##rule;
#include "passes/gradients.def"

/* Does a value with respect to which the loss is differentiated reach the input? */
bool tsr_grad_wants(const tsr_gradient_call *g, int input);
/* The gradient of output i; TSR_NONE if the loss does not depend on it. */
int tsr_grad_of_output(const tsr_gradient_call *g, int i);
/* Adds a value to the gradient of input i, to whose shape it is broadcast. */
void tsr_grad_give(tsr_gradient_call *g, int i, int value);
/* The same of a value that the loss depends on by way of the node, if that is wanted. */
void tsr_grad_give_value(tsr_gradient_call *g, int of, int value);
/* Is its gradient one of those asked for, or is it held? */
bool tsr_grad_is_asked(const tsr_gradient_call *g, int value);
void tsr_grad_refuse(tsr_gradient_call *g, const char *what);

/* The attribute "axis", of those of x; 0 after a failure. */
int tsr_grad_axis(tsr_gradient_call *g, int64_t default_value);

/* Shape of a value; [] of TSR_NONE. */
tsr_shape tsr_grad_shape(const tsr_gradient_call *g, int value);
/* The value itself if it has the shape. */
int tsr_grad_reshape(tsr_gradient_call *g, int value, const tsr_shape *shape);
/* The sum over the axes along which a tensor of the shape was repeated: the reverse of numpy's
 * broadcasting. What another sum tells is not summed again. */
int tsr_grad_sum_to(tsr_gradient_call *g, int value, const tsr_shape *shape);
int tsr_grad_expand(tsr_gradient_call *g, int value, const tsr_shape *shape);
int tsr_grad_zeros(tsr_gradient_call *g, const tsr_shape *shape);
/* The value where the mask holds, zero elsewhere, whatever the value is there. */
int tsr_grad_where(tsr_gradient_call *g, int mask, int value);
/* A reduction whose axes, `count` of them, are kept. */
int tsr_grad_reduce(tsr_gradient_call *g, tsr_op op, int value, int count, const int64_t *axes);
int tsr_grad_transpose(tsr_gradient_call *g, int value, const int64_t *perm);
/* [.., from, ..] -> [.., to, ..], by a matrix [to, from] along an axis. */
int tsr_grad_apply_matrix(tsr_gradient_call *g, int value, int axis, int64_t to,
                          const float *matrix);
/* value * number */
int tsr_grad_scale(tsr_gradient_call *g, int value, float number);

/* Gives all gradients where the node, an Add, ends what BatchNormalization in training was made of;
 * false: it does not. */
bool tsr_gradient_batch_norm(tsr_gradient_call *g);

/* Gives dy, shared among those elements of x along some axes that equal y. */
void tsr_grad_share(tsr_gradient_call *g, int y, int dy, int count, const int64_t *axes);

/* The value of an operator of some inputs. */
#define TSR_GRAD(g, Op, ...) TSR_BUILD(&(g)->b, TSR_OP_##Op, __VA_ARGS__)

#endif
