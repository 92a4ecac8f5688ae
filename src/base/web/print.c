/* snprintf() of what the library prints: %s with a precision, %c, %p and integers with a width and
 * zeros. The C library's is several times as large, for much that is not used; tools/web.sh looks
 * for that. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct printed {
    char *text;
    size_t size, length; /* of the text's memory, of all that was to be printed */
} printed;

static void put(printed *to, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++, to->length++)
        if (to->length + 1 < to->size)
            to->text[to->length] = text[i];
}

static void put_number(printed *to, uint64_t n, bool negative, unsigned base, int width,
                       bool zeros) {
    char digits[24];
    int first = sizeof digits;
    do
        digits[--first] = "0123456789abcdef"[n % base];
    while (n /= base);
    int count = (int)sizeof digits - first;
    if (negative && !zeros)
        digits[--first] = '-';
    else if (negative)
        put(to, "-", 1);
    for (int i = count + negative; i < width; i++)
        put(to, zeros ? "0" : " ", 1);
    put(to, digits + first, sizeof digits - (size_t)first);
}

/* What follows a %: its flags are read, conversion is the character after them. */
typedef struct field {
    bool zeros, is_long_long;
    int width, precision; /* a precision of -1: none */
    char conversion;
} field;

static int read_number(const char **format) {
    int n = 0;
    for (; **format >= '0' && **format <= '9'; ++*format)
        n = 10 * n + (**format - '0');
    return n;
}

/* A long, a size_t and a pointer are as large as an int. */
static field read_field(const char **format, va_list *args) {
    field f = {.precision = -1, .zeros = **format == '0'};
    f.width = read_number(format);
    if (**format == '.') {
        bool given = *++*format == '*';
        *format += given;
        f.precision = given ? va_arg(*args, int) : read_number(format);
    }
    for (int longs = 0; **format == 'l' || **format == 'z'; ++*format)
        f.is_long_long = **format == 'l' && ++longs == 2;
    f.conversion = *(*format)++;
    return f;
}

static void put_integer(printed *to, const field *f, va_list *args) {
    bool is_signed = f->conversion == 'd', is_hex = f->conversion == 'x' || f->conversion == 'p';
    int64_t n = f->is_long_long ? va_arg(*args, int64_t) : va_arg(*args, int32_t);
    uint64_t u = f->is_long_long || is_signed ? (uint64_t)n : (uint32_t)n;
    bool negative = is_signed && n < 0;
    put_number(to, negative ? -u : u, negative, is_hex ? 16 : 10, f->width, f->zeros);
}

static size_t length_within(const char *text, int most) {
    const char *end = memchr(text, '\0', (size_t)most);
    return end ? (size_t)(end - text) : (size_t)most;
}

static void put_field(printed *to, const field *f, va_list *args) {
    if (f->conversion == 's') {
        const char *text = va_arg(*args, const char *);
        text = text ? text : "(null)";
        put(to, text, f->precision < 0 ? strlen(text) : length_within(text, f->precision));
    } else if (f->conversion == 'c') {
        char c = (char)va_arg(*args, int);
        put(to, &c, 1);
    } else if (f->conversion == '%') {
        put(to, "%", 1);
    } else {
        put_integer(to, f, args);
    }
}

int vsnprintf(char *text, size_t size, const char *format, va_list list) {
    printed to = {text, size, 0};
    va_list args;
    va_copy(args, list);
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(&to, format, plain);
        format += plain;
        if (*format) {
            format++;
            const field f = read_field(&format, &args);
            put_field(&to, &f, &args);
        }
    }
    va_end(args);
    if (size)
        text[to.length < size ? to.length : size - 1] = '\0';
    return (int)to.length;
}

int snprintf(char *text, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, size, format, args);
    va_end(args);
    return length;
}
