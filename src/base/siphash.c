/* SipHash-1-3: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, with one round for
 * each word and three at the end, as hash tables use it. */
#define _DEFAULT_SOURCE /* getentropy */

#include "base/siphash.h"

#include "base/clock.h"

#include <string.h>
#include <unistd.h>

tsr_hash_key tsr_hash_key_make(void) {
    tsr_hash_key key;
    if (getentropy(&key, sizeof key) != 0) /* it fails on kernels before 3.17 */
        key = (tsr_hash_key){{(uint64_t)(tsr_clock_ms() * 1e6), (uintptr_t)&key}};
    return key;
}

static uint64_t rotate(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4]) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static void add_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
}

uint64_t tsr_siphash(tsr_hash_key key, const void *bytes, size_t size) {
    uint64_t v[4] = {key.words[0] ^ 0x736f6d6570736575u, key.words[1] ^ 0x646f72616e646f6du,
                     key.words[0] ^ 0x6c7967656e657261u, key.words[1] ^ 0x7465646279746573u};
    const char *at = bytes;
    uint64_t word = 0;
    size_t rest = size;
    for (; rest >= sizeof word; rest -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        add_word(v, word);
    }
    word = 0;
    memcpy(&word, at, rest);
    add_word(v, word | (uint64_t)size << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
