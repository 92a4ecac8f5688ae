/* The main function of every test program: PROGRAM [--all] [PATTERN]. PATTERN runs only the tests
 * whose names hold it, * and ? being wildcards; --all is the long form, see all_cases(). */
#define _DEFAULT_SOURCE /* setenv */

#include "support/main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool are_cases(const char *which) {
    const char *cases = getenv("TSR_TEST_CASES");
    return cases && !strcmp(cases, which);
}

bool few_cases(void) {
    return are_cases("few");
}

bool all_cases(void) {
    return are_cases("all");
}

int some_cases(int count) {
    return few_cases() ? count / 8 : all_cases() ? count * 4 : count;
}

int main(int argc, char **argv) {
    static char pattern[256];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--all")) {
            setenv("TSR_TEST_CASES", "all", 1);
        } else if (argv[i][0] != '-' && !*pattern) {
            snprintf(pattern, sizeof pattern, "*%s*", argv[i]);
            cmocka_set_test_filter(pattern);
        } else {
            fprintf(stderr, "usage: %s [--all] [PATTERN]\n", argv[0]);
            return 2;
        }
    }
    return run_program();
}
