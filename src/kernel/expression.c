#include "kernel/expression.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

typedef struct parser {
    const char *at, *end;
    tsr_name_fn *find;
    const void *user;
    const char *error; /* the first one */
    int depth;         /* of parentheses */
} parser;

static const struct {
    const char *text;
    int precedence;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4}, {">=", 4}, {"<", 4},
                 {">", 4},  {"+", 5},  {"-", 5},  {"*", 6},  {"/", 6},  {"%", 6}};
enum { OPERATORS = sizeof operators / sizeof *operators, MAX_DEPTH = 16 };

static void skip_spaces(parser *p) {
    while (p->at < p->end && *p->at == ' ')
        p->at++;
}

static int fail(parser *p, const char *why) {
    if (!p->error)
        p->error = why;
    p->at = p->end;
    return 0;
}

static int parse(parser *p, int precedence);

static int parse_parentheses(parser *p) {
    if (++p->depth > MAX_DEPTH)
        return fail(p, "too many parentheses");
    p->at++;
    int value = parse(p, 0);
    skip_spaces(p);
    if (p->at == p->end || *p->at != ')')
        return fail(p, "a parenthesis that is not closed");
    p->at++;
    p->depth--;
    return value;
}

static int parse_number(parser *p) {
    enum { LARGEST = 100000000 };
    int value = 0;
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
        value = value * 10 + (*p->at - '0');
        if (value > LARGEST)
            return fail(p, "a number that is too large");
    }
    return value;
}

static int parse_operand(parser *p) {
    skip_spaces(p);
    if (p->at == p->end)
        return fail(p, "an operand is missing");
    if (*p->at == '(')
        return parse_parentheses(p);
    if (isdigit((unsigned char)*p->at))
        return parse_number(p);
    const char *name = p->at;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
        p->at++;
    int value = 0;
    if (p->at == name)
        return fail(p, "not an expression");
    return p->find(p->user, name, (size_t)(p->at - name), &value) ? value
                                                                  : fail(p, "an unknown name");
}

/* The operator at this place; OPERATORS if there is none. */
static int find_operator(parser *p) {
    skip_spaces(p);
    for (int i = 0; i < OPERATORS; i++) {
        size_t length = strlen(operators[i].text);
        if ((size_t)(p->end - p->at) >= length && !memcmp(p->at, operators[i].text, length))
            return i;
    }
    return OPERATORS;
}

static int64_t apply(parser *p, const char *name, int64_t a, int64_t b) {
    switch (*name) {
    case '|':
        return a || b;
    case '&':
        return a && b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return name[1] ? a <= b : a < b;
    case '>':
        return name[1] ? a >= b : a > b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        if (b == 0)
            return fail(p, "a division by zero");
        return *name == '/' ? a / b : a % b;
    }
}

static int parse(parser *p, int precedence) {
    int value = parse_operand(p);
    for (int i = find_operator(p); i < OPERATORS && operators[i].precedence > precedence;
         i = find_operator(p)) {
        p->at += strlen(operators[i].text);
        int right = parse(p, operators[i].precedence);
        int64_t result = p->error ? 0 : apply(p, operators[i].text, value, right);
        if (result < INT_MIN || result > INT_MAX)
            return fail(p, "a number that is too large");
        value = (int)result;
    }
    return value;
}

const char *tsr_expression(const char *text, size_t length, tsr_name_fn *find, const void *user,
                           int *value) {
    parser p = {.at = text, .end = text + length, .find = find, .user = user};
    *value = parse(&p, 0);
    skip_spaces(&p);
    if (!p.error && p.at < p.end)
        p.error = "not an expression";
    return p.error;
}
