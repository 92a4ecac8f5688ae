/* What tests/support/main.c, the main function of every test program, asks of it and offers. */
#ifndef TESTS_SUPPORT_MAIN_H
#define TESTS_SUPPORT_MAIN_H

#include <stdbool.h>

/* Defined by each test program: runs its group of tests, returns how many failed. */
int run_program(void);

/* Which cases the tests run: the environment variable TSR_TEST_CASES is "few", as under sanitizers,
 * where each case runs in one environment and loops make fewer; "all", as --all says, where cases
 * at random are more and each runs in every environment; or neither. */
bool few_cases(void);
bool all_cases(void);
/* Of cases at random, where `count` is the usual number. */
int some_cases(int count);

#endif
