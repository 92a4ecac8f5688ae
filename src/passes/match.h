/* Finds what exporters write for one operator, in a graph whose shapes are known. */
#ifndef TSR_PASSES_MATCH_H
#define TSR_PASSES_MATCH_H

#include "passes/edit.h"

typedef struct tsr_matcher {
    tsr_graph *graph;
    const int *readers; /* of tsr_count_readers() */
    int value_count;    /* values that are counted: those that the graph had before */
} tsr_matcher;

/* How often the value is read. */
int tsr_match_reads(const tsr_matcher *m, int value);

/* The node of this operator that writes the value as its only output; NULL if there is none. */
tsr_node *tsr_match_node(const tsr_matcher *m, int value, tsr_op op);
/* The same, if the value is read that many times: by the pattern and by nothing else. */
tsr_node *tsr_match_part(const tsr_matcher *m, int value, tsr_op op, int reads);

/* A constant of one element. */
bool tsr_match_number(const tsr_matcher *m, int value, float *number);
/* Is the value a constant of one element, up to the rounding of float32? */
bool tsr_match_equals(const tsr_matcher *m, int value, double number);
bool tsr_is_near(double a, double b);

/* The input of a node of two, other than `value`; TSR_NONE if neither is the value. */
int tsr_match_other(const tsr_node *node, int value);
/* The value v of the part v + number; TSR_NONE if there is none. */
int tsr_match_sum(const tsr_matcher *m, int value, double number);

/* A product of values and a constant number: nested Mul, and Div by numbers, that nothing else
 * reads. */
enum { TSR_MOST_FACTORS = 4 };
typedef struct tsr_product {
    double number;
    int count; /* more than TSR_MOST_FACTORS: too many, they are not listed */
    int values[TSR_MOST_FACTORS];
} tsr_product;
/* Of what a Mul or Div computes; the value itself as the only factor if it is of another node. */
tsr_product tsr_match_product(const tsr_matcher *m, int value);
/* Is the value x times a number? */
bool tsr_match_multiple(const tsr_matcher *m, int value, int x, double *number);

/* Calls `rewrite` for each node, which may replace it; then removes what nothing reads any more. */
tsr_status tsr_match_each(tsr_graph *graph,
                          tsr_status (*rewrite)(const tsr_matcher *m, tsr_node *node));
/* Makes the node one of another operator with the same output. Inputs and attributes are copied. */
tsr_status tsr_match_replace(const tsr_matcher *m, tsr_node *node, tsr_op op, int input_count,
                             const int *inputs, int attr_count, const tsr_attr *attrs);
/* The same of one float attribute and one input. */
tsr_status tsr_match_replace_unary(const tsr_matcher *m, tsr_node *node, tsr_op op, int x,
                                   const char *param, float value);

#endif
