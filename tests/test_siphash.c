/* SipHash-1-3 against its authors' test vectors: key and message are 0, 1, 2, ... */
#include "base/siphash.h"
#include "support/main.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_vectors(void **state) {
    (void)state;
    static const unsigned char hashes[][8] = {
        {0xdc, 0xc4, 0x0f, 0x05, 0x58, 0x01, 0xac, 0xab},
        {0x93, 0xca, 0x57, 0x7d, 0xf3, 0x9b, 0xf4, 0xc9},
        {0x4d, 0xd4, 0xc7, 0x4d, 0x02, 0x9b, 0xcb, 0x82},
        {0xfb, 0xf7, 0xdd, 0xe7, 0xb8, 0x0a, 0xf8, 0x8b},
    };
    unsigned char bytes[16];
    tsr_hash_key key;
    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)i;
    memcpy(&key, bytes, sizeof key);
    for (size_t size = 0; size < sizeof hashes / sizeof *hashes; size++) {
        uint64_t hash = tsr_siphash(key, bytes, size);
        assert_memory_equal(&hash, hashes[size], sizeof hash);
    }
}

/* Words, rests and the size all count; keys differ. */
static void test_differences(void **state) {
    (void)state;
    const tsr_hash_key a = tsr_hash_key_make(), b = tsr_hash_key_make();
    char text[33] = {0};
    assert_memory_not_equal(&a, &b, sizeof a);
    for (size_t size = 0; size < 32; size++)
        for (size_t other = size + 1; other <= 32; other++)
            assert_true(tsr_siphash(a, text, size) != tsr_siphash(a, text, other));
    for (size_t i = 0; i < 32; i++) {
        uint64_t before = tsr_siphash(a, text, 32);
        text[i] = 1;
        assert_true(tsr_siphash(a, text, 32) != before);
        assert_true(tsr_siphash(a, text, 32) != tsr_siphash(b, text, 32));
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
