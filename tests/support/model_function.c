#include "support/model_function.h"

#include "support/onnx_case.h"

#include <string.h>

/* Splits "a,b" into a list of strings of the writer. */
static void set_names(onnx_writer *writer, const char *names, char ***list, size_t *count) {
    char *copy = onnx_copy(writer, names);
    for (char *name = strtok(copy, ","); name; name = strtok(NULL, ","))
        onnx_append(writer, list, count, name);
}

void add_function(onnx_writer *writer, int opset, const char *name, const char *inputs,
                  const char *outputs, const char *text, Tsr__AttributeProto *usual) {
    Tsr__FunctionProto f = TSR__FUNCTION_PROTO__INIT;
    Tsr__OperatorSetIdProto import = TSR__OPERATOR_SET_ID_PROTO__INIT, *imports[] = {&import};
    Tsr__ModelProto *model = onnx_writer_model(writer);
    onnx_writer *nodes = onnx_case(opset, text);
    Tsr__GraphProto *graph = onnx_writer_model(nodes)->graph;
    import.domain = "";
    import.has_version = true;
    import.version = opset;
    f.domain = "local";
    f.name = (char *)name;
    f.n_opset_import = 1;
    f.opset_import = imports;
    f.n_node = graph->n_node;
    f.node = graph->node;
    f.n_attribute_proto = usual ? 1 : 0;
    f.attribute_proto = &usual;
    set_names(nodes, inputs, &f.input, &f.n_input);
    set_names(nodes, outputs, &f.output, &f.n_output);
    for (size_t n = 0; n < graph->n_node; n++)
        for (size_t i = 0; i < graph->node[n]->n_attribute; i++) {
            Tsr__AttributeProto *attr = graph->node[n]->attribute[i];
            if (attr->has_s && attr->s.len == 4 && !memcmp(attr->s.data, "call", 4)) {
                attr->has_s = attr->has_type = false;
                attr->ref_attr_name = attr->name;
            }
        }
    ProtobufCBinaryData *functions = onnx_alloc(writer, model->n_functions + 1, sizeof *functions);
    if (model->n_functions)
        memcpy(functions, model->functions, model->n_functions * sizeof *functions);
    size_t size = tsr__function_proto__get_packed_size(&f);
    functions[model->n_functions] = (ProtobufCBinaryData){size, onnx_alloc(writer, size, 1)};
    tsr__function_proto__pack(&f, functions[model->n_functions].data);
    model->functions = functions;
    model->n_functions++;
    onnx_writer_destroy(nodes);
}
