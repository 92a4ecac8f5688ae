/* The directives of WGSL kernels. */
#include "webgpu/template.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const tsr_template_name names[] = {
    {"ZERO", 0}, {"THREE", 3}, {"A_HALF", 0}, {"B_HALF", 1}, {NULL, 0}};

static void check(const char *text, const char *expected) {
    tsr_text out = {0};
    tsr_text_add(&out, "%s", ""); /* an empty expansion is a text, too */
    assert_int_equal(tsr_template_expand(&out, text, names), TSR_OK);
    char *chars = tsr_text_take(&out);
    assert_string_equal(chars, expected);
    free(chars);
}

static void check_error(const char *text, const char *message) {
    tsr_text out = {0};
    assert_int_equal(tsr_template_expand(&out, text, names), TSR_INVALID_ARGUMENT);
    assert_non_null(strstr(tsr_last_error(), message));
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
          "v0 = A_at(0);\nv1 = B_at(1);\nv2 = C_at(2);\n");
    check("#for i 2\n#for j 2\n$i$j\n#endfor\n#endfor\n", "00\n01\n10\n11\n");
    check("#for i 2\n#for i 2\n$i\n#endfor\n$i\n#endfor\n", "0\n1\n0\n0\n1\n1\n");
    check("#for i 3\n#for j $i\n$i$j\n#endfor\n#endfor\n", "10\n20\n21\n");
    check("#for i 2\n#if $I_HALF == 1\n$i\n#endif\n#endfor\n", "1\n");
    check("#for i ZERO\na\n#for j UNKNOWN\n$j\n#endfor\n#endfor\nb\n", "b\n");
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
    check_error("#define A\n", "an unknown or misplaced directive");
    check_error("#if ZERO && THREE == 3\n#endif\n", "not a condition");
    check_error("#if ZERO = 3\n#endif\n", "not a condition");
    check_error("#if\n#endif\n", "not a condition");
    check_error("#for 3\n#endfor\n", "not a loop");
    check_error("#for I 3\n#endfor\n", "not a loop");
    check_error("#include nothing\n", "an unknown or unfinished file");
}

static void test_long_lines(void **state) {
    (void)state;
    char line[1000];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    check_error(line, "a line that is too long");
    line[200] = '\0';
    check(line, line);
}

static void test_files(void **state) {
    (void)state;
    tsr_text out = {0};
    assert_int_equal(tsr_template_expand(&out, "a\n#include element\nb\n", names), TSR_OK);
    char *chars = tsr_text_take(&out);
    assert_memory_equal(chars, "a\n// For", 8);
    assert_non_null(strstr(chars, "fn kernel("));
    assert_string_equal(strrchr(chars, '}'), "}\nb\n");
    free(chars);
    assert_null(tsr_template_find("nothing"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_loops),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_long_lines), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
