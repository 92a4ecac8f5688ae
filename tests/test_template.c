/* The template language of kernels, and leaving out what a program does not use. */
#include "kernel/kernel.h"
#include "kernel/prune.h"
#include "kernel/template.h"
#include "support/main.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *find_file(const char *stem) {
    if (!strcmp(stem, "two"))
        return "x $i\ny\n";
    if (!strcmp(stem, "open"))
        return "#if THREE\n";
    return NULL;
}

static const tsr_template_name names[] = {
    {"ZERO", 0}, {"THREE", 3}, {"A_HALF", 0}, {"B_HALF", 1}, {"FOUR", 4}};
static const char *const inputs[] = {"A", "B", "weights"};
static const tsr_template_param params[] = {
    {"scale", "f[1].x"}, {"window.stride", "i[2].y"}, {"window", "i[2]"}, {"A_size", "i[0]"}};
static const tsr_template language = {.names = names,
                                      .name_count = 5,
                                      .inputs = inputs,
                                      .input_count = 3,
                                      .params = params,
                                      .param_count = 4,
                                      .find_file = find_file};

static void check(const char *text, const char *expected) {
    tsr_text out = {0};
    tsr_text_add(&out, "%s", ""); /* an empty expansion is a text, too */
    tsr_status status = tsr_template_expand(&out, text, &language);
    char *chars = tsr_text_take(&out);
    if (status != TSR_OK)
        fail_msg("%s", tsr_last_error());
    assert_string_equal(chars, expected);
    free(chars);
}

static void check_error(const char *text, const char *message) {
    tsr_text out = {0};
    assert_int_equal(tsr_template_expand(&out, text, &language), TSR_ERROR_INVALID_ARGUMENT);
    if (!strstr(tsr_last_error(), message))
        fail_msg("\"%s\" lacks '%s'", tsr_last_error(), message);
    free(tsr_text_take(&out));
}

static void test_lines(void **state) {
    (void)state;
    check("", "");
    check("one\n\n  two # no directive\nthree", "one\n\n  two # no directive\nthree");
}

static void test_conditions(void **state) {
    (void)state;
    check("#if ZERO\na\n#endif\nb\n", "b\n");
    check("#if THREE\na\n#endif\nb\n", "a\nb\n");
    check("#if ZERO\na\n#elif THREE == 3\nb\n#elif THREE\nc\n#else\nd\n#endif\n", "b\n");
    check("  #if THREE < 3\na\n  #else\nb\n  #endif\n", "b\n");
    check("#if THREE <= 3\na\n#endif\n#if THREE >= 4\nb\n#endif\n", "a\n");
    check("#if THREE != 3\na\n#endif\n#if 4 > THREE\nb\n#endif\n", "b\n");
    check("#if ZERO\n#if UNKNOWN\na\n#else\nb\n#endif\n#else\nc\n#endif\n", "c\n");
    check("#if THREE\n#if ZERO\na\n#else\nb\n#endif\n#else\nc\n#endif\n", "b\n");
}

static void test_loops(void **state) {
    (void)state;
    check("#for i THREE\nv$i = $I_at($i);\n#endfor\n",
          "v0 = A_at(0);\nv1 = B_at(1);\nv2 = weights_at(2);\n");
    check("#for i 2\n#for j 2\n$i$j\n#endfor\n#endfor\n", "00\n01\n10\n11\n");
    check("#for i 2\n#for i 2\n$i\n#endfor\n$i\n#endfor\n", "0\n1\n0\n0\n1\n1\n");
    check("#for i 3\n#for j $i\n$i$j\n#endfor\n#endfor\n", "10\n20\n21\n");
    check("#for i 2\n#if $I_HALF == 1\n$i\n#endif\n#endfor\n", "1\n");
    check("#for i ZERO\na\n#for j UNKNOWN\n$j\n#endfor\n#endfor\nb\n", "b\n");
}

static void test_expressions(void **state) {
    (void)state;
    check("${THREE * (FOUR - 1) + 7 % FOUR / 2}\n", "10\n");
    check("#for j 2\n#for k 2\n${j * THREE + k}\n#endfor\n#endfor\n", "0\n1\n3\n4\n");
    check("#for kx 2\na$kx[${kx + 1}] ${kx}b\n#endfor\n", "a0[1] 0b\na1[2] 1b\n");
    check("#if ZERO || THREE == 3 && FOUR > THREE\na\n#endif\n", "a\n");
    check("#for i FOUR\n#if i % 2 == 0\n$i\n#endif\n#endfor\n", "0\n2\n");
    check("#for i THREE - 1\n$i\n#endfor\n", "0\n1\n");
    check_error("${1 / ZERO}\n", "a division by zero");
    check_error("${UNKNOWN}\n", "an unknown name");
    check_error("${3 +}\n", "an operand is missing");
    check_error("${(3}\n", "a parenthesis that is not closed");
    check_error("${3 4}\n", "not an expression");
    check_error("${99999999999}\n", "a number that is too large");
    check_error("${8888888 * 88888}\n", "a number that is too large");
    check_error("${0 - 99999999 * 21 - 99999999}\n", "a number that is too large");
    check_error("${((((((((((((((((((1))))))))))))))))))}\n", "too many parentheses");
}

static void test_params(void **state) {
    (void)state;
    check("a = u.scale;\n", "a = f[1].x;\n");
    check("u.window.stride + u.window * u.window.stride\n", "i[2].y + i[2] * i[2].y\n");
    check("#for s 1\nu.$S_size.zw menu.scale v.u.x\n#endfor\n", "i[0].zw menu.scale v.u.x\n");
    check_error("u.scales\n", "an unknown parameter");
    check_error("u.$x\n", "an unknown variable");
    check_error("#for s FOUR\n$S\n#endfor\n", "there is no such input");
}

static void test_errors(void **state) {
    (void)state;
    check_error("#if UNKNOWN\n#endif\n", "an unknown name: \"#if UNKNOWN\"");
    check_error("#for i UNKNOWN\n#endfor\n", "an unknown name");
    check_error("a $i b\n", "an unknown variable: \"a $i b\"");
    check_error("#for i 2\n#endfor\n$i\n", "an unknown variable");
    check_error("a $1\n", "an unknown variable");
    check_error("#if ZERO\na\n", "an #if without its #endif: \"#if ZERO\"");
    check_error("#if ZERO\n#for i 2\n#endif\n#endfor\n", "without its");
    check_error("#for i 2\na\n", "a #for without its #endfor");
    check_error("a\n#endif\n", "an unknown or misplaced directive: \"#endif\"");
    check_error("#ifdef A\n", "an unknown or misplaced directive");
    check_error("#if ZERO = 3\n#endif\n", "not an expression");
    check_error("#if\n#endif\n", "an operand is missing");
    check_error("#for 3\n#endfor\n", "not a loop");
    check_error("#for I 3\n#endfor\n", "not a loop");
    check_error("#for i 9000\n#for j 9000\n#endfor\n#endfor\n", "loops that make too much text");
    check_error("#for i 3000\n#for j 3000\nabc\n#endfor\n#endfor\n", "loops that make too much");
    check_error("#include nothing\n", "an unknown or unfinished file");
    check_error("#include open\n", "without its #endif");
    check("#define A\n#extension b\n", "#define A\n#extension b\n");
}

static void test_long_lines(void **state) {
    (void)state;
    char line[4000];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    check_error(line, "a line that is too long");
    line[1000] = '\0';
    check(line, line);
}

static void test_files(void **state) {
    (void)state;
    check("a\n#for i 2\n#include two\n#endfor\nb\n", "a\nx 0\ny\nx 1\ny\nb\n");
    assert_non_null(tsr_glsl_file("element"));
    assert_null(tsr_glsl_file("nothing"));
    assert_null(tsr_wgsl_file("nothing"));
}

/* ---- pruning --------------------------------------------------------------------------------- */

static void check_pruned(tsr_language kind, const char *text, const char *expected) {
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    strcpy(copy, text);
    char *pruned = tsr_prune(copy, kind);
    assert_string_equal(pruned, expected);
    free(pruned);
}

static void test_pruning(void **state) {
    (void)state;
    check_pruned(TSR_GLSL,
                 "int f(int a) { return g(a); }\nint g(int a) {\n    return a;\n}\n"
                 "int h() { return f(1); }\nvoid main() { f(1); }\n",
                 "int f(int a) { return g(a); }\nint g(int a) {\n    return a;\n}\n"
                 "void main() { f(1); }\n");
    check_pruned(TSR_GLSL,
                 "const int A = 1;\nconst int B = A;\nconst int C = 2;\n"
                 "uniform vec4 u[C];\nvoid main() {}\n",
                 "const int C = 2;\nuniform vec4 u[C];\nvoid main() {}\n");
    check_pruned(TSR_GLSL,
                 "int f(int a);\nint f(int a) { return 1; } // }\nvoid main() { f(0); }\n",
                 "int f(int a);\nint f(int a) { return 1; } // }\nvoid main() { f(0); }\n");
    check_pruned(TSR_WGSL,
                 "const A: i32 = 1;\nfn f() -> i32 { return A; }\nfn g() { /* { */ }\n"
                 "@compute\nfn main() { _ = 1; }\n",
                 "@compute\nfn main() { _ = 1; }\n");
    /* What cannot be read stays as it is. */
    check_pruned(TSR_WGSL, "fn f( {\n", "fn f( {\n");
    assert_null(tsr_prune(NULL, TSR_GLSL));
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_loops),   cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_params),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_files),   cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_pruning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
