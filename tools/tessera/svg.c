#include "svg.h"
#include "tessera.h"

#include <math.h>

void svg_begin(FILE *file, int width, int height, const char *style) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<style>.page{fill:#fff}.grid{stroke:#ddd}%s</style>\n"
            "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n",
            width, height, width, height, style, width, height);
}

void svg_end(FILE *file) {
    fputs("</svg>\n", file);
}

static void put_escaped(FILE *file, const char *text) {
    char shown[1024];
    for (const char *at = tsr_escape(text, shown, sizeof shown); *at; at++) {
        const char *escape = *at == '&'   ? "&amp;"
                             : *at == '<' ? "&lt;"
                             : *at == '>' ? "&gt;" /* "]]>" is not allowed in a text */
                                          : NULL;
        if (escape)
            fputs(escape, file);
        else
            fputc(*at, file);
    }
}

void svg_text(FILE *file, double x, double y, const char *style, const char *text) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, style);
    put_escaped(file, text);
    fputs("</text>\n", file);
}

double svg_step(double longest) {
    enum { MOST_TICKS = 8 };
    double power = pow(10, floor(log10(longest / MOST_TICKS))),
           ratio = longest / MOST_TICKS / power;
    return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}
