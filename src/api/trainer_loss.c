/* Losses: the mean over all elements of a function of output and target; a weighted sum of them, to
 * which an adversarial loss may be added. */
#include "api/trainer.h"

#include "base/error.h"

/* The node that computes a value, behind views; NULL of an input. */
static const tsr_node *find_producer(const tsr_graph *graph, int value) {
    const tsr_node *node = NULL;
    do {
        int producer = graph->values[value].producer;
        node = producer == TSR_NONE ? NULL : &graph->nodes[producer];
        value = node ? node->inputs[0] : value;
    } while (node && tsr_op_has(node->op, TSR_IS_VIEW));
    return node;
}

tsr_status tsr_training_find_logits(const tsr_graph *graph, int output, tsr_op function,
                                    int *logits) {
    const tsr_node *node = find_producer(graph, output);
    *logits = output;
    if (!node || node->op != function)
        return TSR_OK;
    *logits = node->inputs[0];
    if (function == TSR_OP_Sigmoid)
        return TSR_OK;
    const tsr_shape *shape = &tsr_node_in(graph, node, 0)->shape;
    int64_t axis = tsr_attr_int(node, "axis", -1);
    bool along_channels = axis == 1 || axis == 1 - shape->rank;
    bool coerces = tsr_attr_int(node, "coerce_2d", 0) != 0 && shape->rank != 2;
    if (along_channels && !coerces && tsr_shape_equal(shape, &graph->values[output].shape))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "the loss is of logits along axis 1, but output '%s' is made by node '%s' (%s) "
                    "along others: let the tensor that it reads be the output",
                    graph->values[output].name, node->name, tsr_node_op_name(node));
}

/* Not by Abs, which CONTRIBUTING.md adds as an example. The slope at 0 is 0: both share it. */
int tsr_training_magnitude(tsr_builder *b, int value) {
    return TSR_BUILD(b, TSR_OP_Mul, value, TSR_BUILD(b, TSR_OP_Sign, value));
}

/* By an operator that reduces all axes. */
static int build_sum_by(tsr_builder *b, tsr_op op, int value, float factor) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    int sum = tsr_build_with(b, op, 1, &value, 1, &drop);
    return TSR_BUILD(b, TSR_OP_Mul, sum, tsr_build_number(b, factor));
}

int tsr_training_build_sum(tsr_builder *b, int value, float factor) {
    return build_sum_by(b, TSR_OP_ReduceSum, value, factor);
}

static int build_smooth_l1(tsr_builder *b, int difference) {
    int distance = tsr_training_magnitude(b, difference),
        clipped = TSR_BUILD(b, TSR_OP_Min, distance, tsr_build_number(b, 1)),
        half = TSR_BUILD(b, TSR_OP_Mul, clipped, tsr_build_number(b, 0.5f));
    return TSR_BUILD(b, TSR_OP_Mul, clipped, TSR_BUILD(b, TSR_OP_Sub, distance, half));
}

static void find_scored(tsr_builder *b, tsr_training_term *term, tsr_op function) {
    tsr_build_fail(b, tsr_training_find_logits(b->graph, term->output, function, &term->scored));
}

static int build_cross_entropy(tsr_builder *b, tsr_training_term *term) {
    const tsr_attr axis = tsr_int_attr("axis", 1);
    find_scored(b, term, TSR_OP_Softmax);
    int logarithms = tsr_build_with(b, TSR_OP_LogSoftmax, 1, &term->scored, 1, &axis);
    return TSR_BUILD(b, TSR_OP_Neg, TSR_BUILD(b, TSR_OP_Mul, logarithms, term->target));
}

/* max(y, 0) - y * t + log(1 + exp(-|y|)), which is softplus(y) - y * t. */
static int build_binary_cross_entropy(tsr_builder *b, tsr_training_term *term) {
    find_scored(b, term, TSR_OP_Sigmoid);
    const tsr_shape shape = b->graph->values[term->scored].shape; /* a view may follow */
    int target = tsr_build_reshape(b, term->target, &shape);
    return TSR_BUILD(b, TSR_OP_Sub, TSR_BUILD(b, TSR_OP_Softplus, term->scored),
                     TSR_BUILD(b, TSR_OP_Mul, term->scored, target));
}

/* The part of all pixels of a row or column at which a window of SSIM begins. */
static double windows(int64_t pixels) {
    return (double)(pixels - TSR_SSIM_WINDOW + 1) / (double)pixels;
}

static int build_term(tsr_builder *b, tsr_training_term *term) {
    const tsr_shape shape = b->graph->values[term->output].shape;
    double count = (double)tsr_shape_count(&shape);
    int difference = TSR_NONE, elements;
    tsr_op sum = TSR_OP_ReduceSum;
    term->scored = term->output;
    if (term->loss <= TSR_LOSS_SMOOTH_L1)
        difference = TSR_BUILD(b, TSR_OP_Sub, term->output, term->target);
    switch (term->loss) {
    case TSR_LOSS_MSE:
        elements = difference;
        sum = TSR_OP_ReduceSumSquare;
        break;
    case TSR_LOSS_L1:
        elements = difference;
        sum = TSR_OP_ReduceL1;
        break;
    case TSR_LOSS_SMOOTH_L1:
        elements = build_smooth_l1(b, difference);
        break;
    case TSR_LOSS_CROSS_ENTROPY:
        elements = build_cross_entropy(b, term);
        count /= (double)shape.dim[1];
        break;
    case TSR_LOSS_BINARY_CROSS_ENTROPY:
        elements = build_binary_cross_entropy(b, term);
        break;
    default:
        elements = tsr_training_build_ssim(b, term);
        count *= windows(shape.dim[2]) * windows(shape.dim[3]);
    }
    return build_sum_by(b, sum, elements, (float)((double)term->weight / count));
}

/* Numbers as a vector. */
static int build_vector(tsr_builder *b, int count, int *numbers) {
    const tsr_attr axis = tsr_int_attr("axis", 0);
    for (int i = 0; i < count; i++)
        numbers[i] = tsr_build_reshape(b, numbers[i], &(tsr_shape){1, {1}});
    return tsr_build_with(b, TSR_OP_Concat, count, numbers, 1, &axis);
}

void tsr_training_build_loss(tsr_training *t, tsr_builder *b) {
    int count = 1, *numbers = TSR_NEW(b->graph->arena, t->term_count + 3, int);
    if (!numbers) {
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
        return;
    }
    for (int i = 0; i < t->term_count; i++)
        numbers[count++] = build_term(b, &t->terms[i]);
    if (t->adversarial != TSR_NONE)
        numbers[count++] = TSR_BUILD(b, TSR_OP_Mul, t->adversarial,
                                     tsr_build_number(b, t->desc->adversarial_weight));
    t->loss = numbers[1];
    for (int i = 2; i < count; i++)
        t->loss = TSR_BUILD(b, TSR_OP_Add, t->loss, numbers[i]);
    if (t->discriminator_loss != TSR_NONE)
        numbers[count++] = t->discriminator_loss;
    numbers[0] = t->loss;
    t->losses = count > 2 ? build_vector(b, count, numbers) : t->loss;
}
