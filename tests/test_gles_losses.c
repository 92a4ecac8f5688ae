/* GL contexts that are lost at any moment of a session's life. */
#include "support/backends.h"
#include "support/gl_loss.h"
#include "support/losses.h"
#include "support/main.h"
#include "support/sessions.h"

/* Weights of several passes, each packed by threads. */
#define LARGE_NET                                                                                  \
    "Conv x[1,64,5,7] v{256,64,5,5} -> c pads=2,2,2,2; Conv c w{64,256,5,5} -> d pads=2,2,2,2; "   \
    "Conv d u{256,64,5,5} -> y pads=2,2,2,2"

static void test_losses(void **state) {
    (void)state;
    need_backend("gles");
    if (!has_losing_context())
        skip();
    lose_at_many_moments(&losing_context, MIXED_NET, some_cases(100));
    lose_at_many_moments(&losing_context, LARGE_NET, 20);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_losses)};
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
