/* A line of text to type: the path of a picture to open, with completion. */
#ifndef PIX2PIX_PROMPT_H
#define PIX2PIX_PROMPT_H

#include <stdbool.h>

enum { PROMPT_SIZE = 1024, PROMPT_MATCHES = 8 };

typedef struct prompt {
    char text[PROMPT_SIZE]; /* UTF-8 */
    int match_count;        /* of the latest completion: those that are listed */
    char matches[PROMPT_MATCHES][64];
} prompt;

void prompt_clear(prompt *p);
/* A Unicode character; nothing once the line is full. */
void prompt_type(prompt *p, unsigned character);
/* The last character. */
void prompt_erase(prompt *p);
/* Adds what all folders, and pictures, whose paths begin with the text have in common. */
void prompt_complete(prompt *p);

#endif
