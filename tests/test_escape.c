/* tsr_escape(): what a terminal would obey is shown, in as many bytes as there are. */
#include "base/error.h"
#include "support/main.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *text, const char *shown) {
    char to[64];
    assert_string_equal(tsr_escape(text, to, sizeof to), shown);
    char again[64];
    assert_string_equal(tsr_escape(to, again, sizeof again), shown);
}

static void test_characters(void **state) {
    (void)state;
    expect("", "");
    expect("plain \\ text", "plain \\ text");
    expect("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80",
           "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80");
    expect("\x1b[2J\a\n\t\r\x7f", "\\x1b[2J\\x07\\n\\t\\x0d\\x7f");
    expect("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\x80\\x9b\\x9f\xc2\xa0");
    expect("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xef\xbf\xbf", "\\u202e\\u2066\\u2028\\uffff");
}

/* Bytes that begin no character, are cut, too long for their code, surrogates or beyond Unicode. */
static void test_invalid(void **state) {
    (void)state;
    expect("\xff\x80z", "\\xff\\x80z");
    expect("\xc3", "\\xc3");
    expect("\xe6\xbc", "\\xe6\\xbc");
    expect("\xf0\x9f\x98z", "\\xf0\\x9f\\x98z");
    expect("\xc0\x9b", "\\xc0\\x9b");
    expect("\xe0\x82\x9b", "\\xe0\\x82\\x9b");
    expect("\xed\xa0\x80", "\\xed\\xa0\\x80");
    expect("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

static void test_room(void **state) {
    (void)state;
    static const char text[] = "a\x1b\xc3\xbc"
                               "b",
                      shown[] = "a\\x1b\xc3\xbc"
                                "b";
    static const size_t wanted[] = {0, 0, 1, 1, 1, 1, 5, 5, 7, 8, 8};
    for (size_t size = 0; size < sizeof wanted / sizeof *wanted; size++) {
        char to[16];
        memset(to, '#', sizeof to);
        assert_ptr_equal(tsr_escape(text, to, size), to);
        for (size_t i = size; i < sizeof to; i++)
            assert_int_equal(to[i], '#');
        if (size == 0)
            continue;
        assert_int_equal(strlen(to), wanted[size]);
        assert_memory_equal(to, shown, wanted[size]);
    }
}

static void test_messages(void **state) {
    (void)state;
    assert_int_equal(tsr_fail(TSR_ERROR_IO, "node \"%s\"", "\x1b]0;title\a\n"), TSR_ERROR_IO);
    assert_string_equal(tsr_last_error(), "node \"\\x1b]0;title\\x07\\n\"");
    tsr_fail_context(TSR_ERROR_IO, "%s.onnx", "\x9b");
    assert_string_equal(tsr_last_error(), "\\x9b.onnx: node \"\\x1b]0;title\\x07\\n\"");
}

static void note(void *user, tsr_log_level level, const char *text) {
    (void)level;
    strcat(strcat(user, text), "|");
}

static void test_logs(void **state) {
    (void)state;
    char noted[64] = "";
    tsr_set_log(note, noted);
    tsr_log(TSR_LOG_INFO, "one\n%s", "\b");
    tsr_log_lines(TSR_LOG_INFO, "two\n\n\x1bthree\n");
    tsr_set_log(NULL, NULL);
    assert_string_equal(noted, "one\\n\\x08|two||\\x1bthree|");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters), cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_room),       cmocka_unit_test(test_messages),
        cmocka_unit_test(test_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
