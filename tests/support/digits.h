/* Pictures of digits, rendered from DejaVu's fonts: a stand-in for handwritten ones. */
#ifndef TESTS_SUPPORT_DIGITS_H
#define TESTS_SUPPORT_DIGITS_H

#include "support/random.h"

enum { DIGIT_SIZE = 28, DIGIT_PIXELS = DIGIT_SIZE * DIGIT_SIZE, DIGIT_CLASSES = 10 };

/* Reads the fonts, once. False where Debian's fonts-dejavu-core is not installed. */
bool open_digits(void);

/* After open_digits(): pictures of 0 (ground) to 1 (ink), and 1 for the class of each: a digit of a
 * random typeface, turned by up to 15 degrees, slanted, scaled by axis, moved, with noise. */
void make_digits(random_source *random, int count, float *pictures, float *classes);

#endif
