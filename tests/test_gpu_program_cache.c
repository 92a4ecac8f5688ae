/* Which programs a device keeps. */
#include "gpu/program_cache.h"
#include "support/main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = TSR_UNUSED_PROGRAMS + 10 };

static tsr_cached_program programs[COUNT];
static char texts[COUNT][16];

static void add_all(tsr_program_cache *cache, bool compiled) {
    memset(programs, 0, sizeof programs);
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "program %d", i);
        tsr_program_cache_add(cache, &programs[i], texts[i]);
        programs[i].compiled = compiled;
    }
}

/* Those least recently requested go first. */
static void test_oldest_go(void **state) {
    (void)state;
    tsr_program_cache cache = {0};
    add_all(&cache, true);
    assert_ptr_equal(tsr_program_cache_find_text(&cache, "program 0"), &programs[0]);
    assert_null(tsr_program_cache_release(&cache, &programs[0])); /* it has another reference */
    for (int i = COUNT - 1; i > COUNT - 1 - TSR_UNUSED_PROGRAMS; i--)
        assert_null(tsr_program_cache_release(&cache, &programs[i]));
    assert_ptr_equal(tsr_program_cache_release(&cache, &programs[0]), &programs[10]);
    assert_ptr_equal(tsr_program_cache_find_text(&cache, "program 0"), &programs[0]);
    assert_null(tsr_program_cache_find_text(&cache, "program 10"));
    assert_null(tsr_program_cache_release(&cache, &programs[9])); /* there was room again */
    assert_ptr_equal(tsr_program_cache_release(&cache, &programs[8]), &programs[8]);
    int left = 0;
    for (; tsr_program_cache_pop(&cache); left++)
        ;
    assert_int_equal(left, COUNT - 2);
}

static void test_failed_ones_go(void **state) {
    (void)state;
    tsr_program_cache cache = {0};
    add_all(&cache, false);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(tsr_program_cache_release(&cache, &programs[i]), &programs[i]);
    assert_null(tsr_program_cache_pop(&cache));
}

static void test_keys(void **state) {
    (void)state;
    tsr_program_cache cache = {0};
    tsr_cache_key keys[12];
    add_all(&cache, true);
    for (int i = 0; i < 12; i++) {
        keys[i] = tsr_cache_key_start();
        tsr_cache_key_add_bytes(&keys[i], &i, sizeof i);
        assert_null(tsr_program_cache_find(&cache, &keys[i]));
        tsr_cached_program_add_key(&programs[7], &keys[i]);
        assert_ptr_equal(tsr_program_cache_find(&cache, &keys[i]), &programs[7]);
    }
    assert_null(tsr_program_cache_find(&cache, &keys[0])); /* the latest eight are known */
    assert_ptr_equal(tsr_program_cache_find(&cache, &keys[4]), &programs[7]);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oldest_go),
        cmocka_unit_test(test_failed_ones_go),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
