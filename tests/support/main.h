/* What tests/support/main.c, the main function of every test program, asks of it and offers. */
#ifndef TESTS_SUPPORT_MAIN_H
#define TESTS_SUPPORT_MAIN_H

#include <stdbool.h>

/* Defined by each test program: runs its group of tests, returns how many failed. */
int run_program(void);

/* The long form of the tests: more cases at random, each in every environment. Asked for by --all
 * or the environment variable TSR_TEST_ALL=1. */
bool all_cases(void);

#endif
