#define _POSIX_C_SOURCE 200809L
#include "convert.h"
#include "json.h"
#include "text.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"as it is", "fp16", "int8", "int4", "int8 QDQ"};
static const char *const methods[] = {"minmax", "percentile", "entropy"};

void convert_add_layer(void *user, const tsr_written_layer *layer) {
    convert_report *r = user;
    if (r->layer_count == r->layer_room) {
        int room = r->layer_room ? 2 * r->layer_room : 64;
        convert_layer *larger = realloc(r->layers, (size_t)room * sizeof *larger);
        r->out_of_memory |= !larger;
        if (!larger)
            return;
        r->layers = larger;
        r->layer_room = room;
    }
    convert_layer *added = &r->layers[r->layer_count++];
    *added = (convert_layer){.node = strdup(layer->node),
                             .weights = strdup(layer->weights),
                             .reason = layer->reason ? strdup(layer->reason) : NULL,
                             .op = layer->op,
                             .told = *layer};
    r->out_of_memory |= !added->node || !added->weights || (layer->reason && !added->reason);
}

void convert_report_free(convert_report *r) {
    for (int i = 0; i < r->layer_count; i++) {
        free(r->layers[i].node);
        free(r->layers[i].weights);
        free(r->layers[i].reason);
    }
    for (int i = 0; i < r->output_count; i++)
        free(r->outputs[i].name);
    free(r->layers);
    free(r->outputs);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "0.0123"; "-": not measured. */
static label error_label(double error) {
    label made;
    if (error < 0)
        snprintf(made.text, sizeof made.text, "-");
    else
        snprintf(made.text, sizeof made.text, "%.2g", error);
    return made;
}

static void print_layers(const convert_report *r) {
    printf("%-24s %-13s %-18s %-8s %9s %9s %8s %8s\n", "layer", "op", "weights", "as", "before",
           "after", "weights", "output");
    for (int i = 0; i < r->layer_count; i++) {
        const convert_layer *l = &r->layers[i];
        printf("%-24s %-13s %-18s %-8s %9s %9s %8s %8s%s%s\n", short_label(l->node, 24).text, l->op,
               shape_label(&l->told.shape).text, formats[l->told.format],
               bytes_label(l->told.bytes_before).text, bytes_label(l->told.bytes_after).text,
               error_label(l->told.weight_error).text, error_label(l->told.output_error).text,
               l->reason ? "  " : "", l->reason ? l->reason : "");
    }
}

void convert_print(const convert_report *r) {
    if (r->layer_count)
        print_layers(r);
    for (int i = 0; i < r->output_count; i++) {
        const convert_output *o = &r->outputs[i];
        printf("output %s: error %s, the largest %s", name_label(o->name).text,
               error_label(o->error).text, error_label(o->largest).text);
        if (o->rows)
            printf(", the same best class for %zu of %zu", o->same_top, o->rows);
        printf("\n");
    }
    if (r->samples)
        printf("calibrated with %d of %s: %s\n", r->samples, r->options->folder,
               methods[r->options->method]);
    printf("%s: opset %d, %d nodes (%d before), %s (%s before)", r->to, r->opset, r->nodes,
           r->nodes_before, bytes_label(r->bytes).text, bytes_label(r->bytes_before).text);
    if (r->chunks)
        printf(", %zu chunk%s", r->chunks, r->chunks == 1 ? "" : "s");
    printf("\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_error(cJSON *object, const char *key, double error) {
    if (error < 0)
        cJSON_AddNullToObject(object, key);
    else
        cJSON_AddNumberToObject(object, key, error);
}

static cJSON *layer_json(const convert_layer *l) {
    cJSON *layer = cJSON_CreateObject();
    json_add_text(layer, "name", l->node);
    json_add_text(layer, "op", l->op);
    json_add_text(layer, "weights", l->weights);
    cJSON *shape = cJSON_AddArrayToObject(layer, "shape");
    for (int i = 0; i < l->told.shape.rank; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)l->told.shape.dim[i]));
    json_add_text(layer, "format", formats[l->told.format]);
    if (l->reason)
        json_add_text(layer, "reason", l->reason);
    cJSON_AddNumberToObject(layer, "bytes_before", (double)l->told.bytes_before);
    cJSON_AddNumberToObject(layer, "bytes", (double)l->told.bytes_after);
    add_error(layer, "weight_error", l->told.weight_error);
    add_error(layer, "output_error", l->told.output_error);
    return layer;
}

static cJSON *output_json(const convert_output *o) {
    cJSON *output = cJSON_CreateObject();
    json_add_text(output, "name", o->name);
    add_error(output, "error", o->error);
    add_error(output, "largest_error", o->largest);
    if (o->rows)
        cJSON_AddNumberToObject(output, "top1_agreement", (double)o->same_top / (double)o->rows);
    return output;
}

static cJSON *calibration_json(const convert_report *r) {
    cJSON *calibration = cJSON_CreateObject();
    json_add_text(calibration, "method", methods[r->options->method]);
    json_add_text(calibration, "folder", r->options->folder);
    cJSON_AddNumberToObject(calibration, "samples", r->samples);
    return calibration;
}

static cJSON *report_json(const convert_report *r) {
    cJSON *root = cJSON_CreateObject();
    json_add_text(root, "model", r->from);
    json_add_text(root, "output", r->to);
    cJSON_AddNumberToObject(root, "opset", r->opset);
    cJSON_AddNumberToObject(root, "nodes_before", r->nodes_before);
    cJSON_AddNumberToObject(root, "nodes", r->nodes);
    cJSON_AddNumberToObject(root, "bytes_before", (double)r->bytes_before);
    cJSON_AddNumberToObject(root, "bytes", (double)r->bytes);
    if (r->samples)
        cJSON_AddItemToObject(root, "calibration", calibration_json(r));
    if (r->chunks)
        cJSON_AddNumberToObject(root, "chunks", (double)r->chunks);
    cJSON *layers = cJSON_AddArrayToObject(root, "layers");
    for (int i = 0; i < r->layer_count; i++)
        cJSON_AddItemToArray(layers, layer_json(&r->layers[i]));
    cJSON *outputs = cJSON_AddArrayToObject(root, "outputs");
    for (int i = 0; i < r->output_count; i++)
        cJSON_AddItemToArray(outputs, output_json(&r->outputs[i]));
    return root;
}

tsr_status convert_write_json(const convert_report *r, const char *path) {
    return json_write(report_json(r), path);
}
