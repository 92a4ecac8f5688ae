/* abi_program MODEL: uses every struct that may grow, for check_abi.sh, which builds it with one
 * version of the headers and runs it with the library of another. With -DGROWN its header is the
 * newer one: each of these structs ends in uint64_t grown[3], which the library does not know. */
#include <tessera.h>
#include <tessera_build.h>
#include <tessera_primitive.h>
#include <tessera_train.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check(condition, #condition, __LINE__)
#define CHECK_OK(call) check((call) == TSR_OK, #call, __LINE__)

static void check(bool good, const char *what, int line) {
    if (good)
        return;
    fprintf(stderr, "line %d: not so: %s (%s)\n", line, what, tsr_last_error());
    exit(1);
}

/* ---- results ---- */

enum { CANARY = 0xa5, CANARY_SIZE = 64 };

/* A struct of results, filled with other bytes, and what lies behind it. */
#define RESULT(type)                                                                               \
    struct {                                                                                       \
        type is;                                                                                   \
        unsigned char canary[CANARY_SIZE];                                                         \
    }

static bool is_filled(const unsigned char *bytes, size_t size, int with) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != with)
            return false;
    return true;
}

#ifdef GROWN
#define ZEROS(struct_) is_filled((const unsigned char *)(struct_).grown, sizeof(struct_).grown, 0)
#else
#define ZEROS(struct_) true
#endif

#define PREPARE(result) memset(&(result), CANARY, sizeof(result))
/* Nothing behind the struct was written; members that the library does not know are zero. */
#define CHECK_RESULT(result)                                                                       \
    (CHECK(is_filled((result).canary, sizeof(result).canary, CANARY)), CHECK(ZEROS((result).is)))

/* ---- callbacks ---- */

static tsr_status times(tsr_custom_call *call) {
    for (int64_t i = 0; i < tsr_shape_count(&call->output_shape); i++)
        call->output[i] = *(const float *)call->user * call->input[0][i];
    return TSR_OK;
}

static bool count_report(void *reports, const char *what, double fraction) {
    ++*(int *)reports;
    return what && fraction >= 0;
}

static void count_device(void *devices, const tsr_device_desc *desc, const tsr_device_info *info,
                         const char *reason) {
    CHECK(strcmp(desc->backend, "cpu") == 0 && info && info->is_cpu && !reason);
    CHECK(ZEROS(*desc) && ZEROS(*info));
    ++*(int *)devices;
}

/* ---- the program ---- */

static float two = 2, three = 3;
static const tsr_custom_op ops[] = {
    {.name = "Twice", .domain = "test", .compute = times, .user = &two},
    {.name = "Thrice", .domain = "test", .compute = times, .user = &three},
};

static tsr_device *make_device(void) {
    int devices = 0;
    tsr_device *device;
    RESULT(tsr_device_info) info;
    RESULT(tsr_device_peaks) peaks;
    tsr_list_devices(count_device, &devices);
    CHECK(devices == 1);
    CHECK_OK(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device));
    PREPARE(info);
    CHECK_OK(tsr_device_get_info(device, &info.is));
    CHECK(strcmp(info.is.backend, "cpu") == 0 && info.is.is_cpu && !info.is.has_robust_reset);
    CHECK_RESULT(info);
    PREPARE(peaks);
    CHECK(tsr_device_measure(device, &peaks.is) == TSR_ERROR_UNSUPPORTED);
    CHECK(peaks.is.gflops == 0 && peaks.is.readback_gbs == 0);
    CHECK_RESULT(peaks);
    return device;
}

static void check_tensors(tsr_model *model, tsr_session *session) {
    RESULT(tsr_tensor_info) info;
    PREPARE(info);
    CHECK_OK(tsr_model_input(model, 0, &info.is));
    CHECK(!strcmp(info.is.name, "x") && info.is.shape.rank == 2 && info.is.shape.dim[0] == -1);
    CHECK(!strcmp(info.is.dim_name[0], "N") && !info.is.dim_name[TSR_MAX_RANK - 1]);
    CHECK_RESULT(info);
    PREPARE(info);
    CHECK_OK(tsr_model_output(model, 0, &info.is));
    CHECK_RESULT(info);
    PREPARE(info);
    CHECK_OK(tsr_session_input(session, 0, &info.is));
    CHECK(info.is.shape.dim[0] == 2 && info.is.shape.dim[1] == 3);
    CHECK_RESULT(info);
    PREPARE(info);
    CHECK_OK(tsr_session_output(session, 1, &info.is));
    CHECK(!strcmp(info.is.name, "a"));
    CHECK_RESULT(info);
}

static void check_reports(tsr_session *session) {
    RESULT(tsr_report) report;
    RESULT(tsr_node_report) node;
    RESULT(tsr_candidate_report) candidate;
    RESULT(tsr_optimizer_pass_report) pass;
    PREPARE(report);
    CHECK_OK(tsr_session_report(session, &report.is));
    CHECK(!strcmp(report.is.backend, "cpu") && report.is.node_count == 2 && report.is.gpu_ms < 0);
    CHECK_RESULT(report);
    PREPARE(node);
    CHECK_OK(tsr_session_node_report(session, 1, &node.is));
    CHECK(!strcmp(node.is.op, "Thrice") && !strcmp(node.is.output, "y") && node.is.ms >= 0);
    CHECK_RESULT(node);
    PREPARE(pass);
    CHECK_OK(tsr_session_optimizer_pass(session, 0, &pass.is));
    CHECK(!strcmp(pass.is.name, tsr_optimizer_pass_name(0)) && pass.is.nodes_after == 2);
    CHECK_RESULT(pass);
    memset(&candidate, CANARY, sizeof candidate);
    CHECK(tsr_session_candidate_report(session, 0, 0, &candidate.is) != TSR_OK);
    CHECK(is_filled((unsigned char *)&candidate, sizeof candidate, CANARY));
}

static void run(tsr_session *session) {
    const float x[6] = {0, 1, 2, 3, 4, 5};
    float y[6], a[6];
    RESULT(tsr_texture) texture;
    CHECK_OK(tsr_session_set_input(session, "x", x, 6));
    CHECK_OK(tsr_session_run(session));
    CHECK_OK(tsr_session_get_output(session, "y", y, 6));
    CHECK_OK(tsr_session_get_output(session, "a", a, 6));
    for (int i = 0; i < 6; i++)
        CHECK(y[i] == 6 * x[i] && a[i] == 2 * x[i]);
    memset(&texture, CANARY, sizeof texture);
    CHECK(tsr_session_output_texture(session, "y", &texture.is) == TSR_ERROR_UNSUPPORTED);
    CHECK(is_filled((unsigned char *)&texture, sizeof texture, CANARY));
    CHECK(tsr_session_set_input_texture(session, "x", &(tsr_texture){.id = 1}, 1, 0) ==
          TSR_ERROR_UNSUPPORTED);
}

static void check_net(tsr_device *device) {
    RESULT(tsr_tensor_info) info;
    float loss, x[9] = {1}, y[14] = {0}, weights[6] = {0};
    const tsr_loss_term terms[2] = {{.weight = 0.5f}, {.loss = TSR_LOSS_L1}};
    const tsr_array input = {.data = x, .count = 9},
                    targets[2] = {{.data = y, .count = 14}, {.data = y, .count = 14}};
    tsr_trainer *trainer;
    PREPARE(info);
    const tsr_layer_desc layer = {.outputs = 2, .window = {.kernel = {3}}};
    tsr_net *net;
    tsr_model *model;
    CHECK_OK(tsr_net_create(&(tsr_net_desc){.seed = 3}, &net));
    tsr_net_output(net, "y",
                   tsr_net_conv(net, tsr_net_input(net, "x", &(tsr_shape){3, {1, 1, 9}}), &layer));
    CHECK_OK(tsr_net_parameter(net, 0, &info.is));
    CHECK(info.is.shape.dim[2] == 3);
    CHECK_RESULT(info);
    CHECK_OK(tsr_net_finish(net, &model));
    CHECK_OK(tsr_trainer_create(device, model,
                                &(tsr_trainer_desc){.losses = terms, .loss_count = 2}, &trainer));
    CHECK_OK(tsr_trainer_step(trainer, &input, 1, targets, 2, &loss));
    CHECK(loss > 0);
    float parts[2];
    CHECK_OK(tsr_trainer_losses(trainer, parts, 2));
    CHECK(parts[0] > 0 && parts[1] > 0);
    loss = 0;
    CHECK_OK(tsr_trainer_begin(trainer, &input, 1, targets, 2));
    CHECK_OK(tsr_trainer_advance(trainer, 1, &loss)); /* on cpu: at once */
    CHECK(loss > 0);
    CHECK_OK(tsr_trainer_get_parameter(trainer, 0, weights, 6));
    CHECK(weights[0] != 0);
    tsr_trainer_destroy(trainer);
    tsr_model_free(model);
    tsr_net_destroy(net);
}

static void check_primitive(tsr_device *device) {
    const float x[2] = {-1, 2}, slope = 0.5f;
    float y[2];
    const tsr_shape shape = {1, {2}}, one = {1, {1}};
    RESULT(tsr_post_op) post;
    RESULT(tsr_primitive_report) report;
    tsr_post_ops *posts;
    tsr_primitive *primitive;
    tsr_device_tensor *tensor, *operand;
    CHECK_OK(tsr_post_ops_create(&posts));
    CHECK_OK(tsr_post_ops_append_prelu(posts, 0));
    PREPARE(post);
    CHECK_OK(tsr_post_ops_get(posts, 0, &post.is));
    CHECK(post.is.kind == TSR_POST_OP_PRELU && post.is.operand.rank == -1 && !post.is.node);
    CHECK_RESULT(post);
    const tsr_primitive_desc desc = {
        .kind = TSR_PRIMITIVE_ELTWISE, .op = "Neg", .source = shape, .posts = posts};
    CHECK_OK(tsr_primitive_create(device, &desc, &primitive));
    PREPARE(report);
    CHECK_OK(tsr_primitive_get_report(primitive, &report.is));
    CHECK(report.is.destination.dim[0] == 2 && report.is.macs == 0 && !*report.is.kernel);
    CHECK_RESULT(report);
    CHECK_OK(tsr_device_tensor_create(device, &shape, TSR_DTYPE_F32, &tensor));
    CHECK_OK(tsr_device_tensor_create(device, &one, TSR_DTYPE_F32, &operand));
    CHECK_OK(tsr_device_tensor_write(tensor, x, 2));
    CHECK_OK(tsr_device_tensor_write(operand, &slope, 1));
    const tsr_primitive_args args = {
        .source = tensor, .destination = tensor, .operands = {operand}};
    CHECK_OK(tsr_primitive_execute(primitive, &args));
    CHECK_OK(tsr_device_tensor_read(tensor, y, 2));
    CHECK(y[0] == 1 && y[1] == -1);
    tsr_device_tensor_destroy(tensor);
    tsr_device_tensor_destroy(operand);
    tsr_primitive_destroy(primitive);
    tsr_post_ops_destroy(posts);
}

#ifdef GROWN
#define REFUSED(call, type)                                                                        \
    CHECK((call) == TSR_ERROR_UNSUPPORTED && strstr(tsr_last_error(), type ": "))

/* What the library does not know, and the caller asks for. */
static void check_refusals(const char *path, tsr_device *device, const tsr_model *model,
                           tsr_session *session) {
    tsr_device *other_device;
    tsr_model *other_model;
    tsr_session *other_session;
    tsr_custom_op new_ops[2] = {ops[0], ops[1]};
    new_ops[1].grown[2] = 1;
    REFUSED(tsr_device_create(&(tsr_device_desc){.backend = "cpu", .grown = {1}}, &other_device),
            "tsr_device_desc");
    REFUSED(tsr_model_load(path, &(tsr_model_desc){.grown = {0, 1}}, &other_model),
            "tsr_model_desc");
    REFUSED(tsr_model_load(path, &(tsr_model_desc){.custom_ops = new_ops, .custom_op_count = 2},
                           &other_model),
            "tsr_custom_op");
    REFUSED(
        tsr_session_create(device, model, &(tsr_session_desc){.grown = {0, 0, 1}}, &other_session),
        "tsr_session_desc");
    tsr_primitive *primitive;
    const tsr_primitive_desc relu = {.kind = TSR_PRIMITIVE_ELTWISE, .op = "Relu"};
    tsr_primitive_desc newer = relu;
    newer.grown[0] = 1;
    REFUSED(tsr_primitive_create(device, &newer, &primitive), "tsr_primitive_desc");
    CHECK_OK(tsr_primitive_create(device, &relu, &primitive));
    REFUSED(tsr_primitive_execute(primitive, &(tsr_primitive_args){.grown = {0, 1}}),
            "tsr_primitive_args");
    tsr_primitive_destroy(primitive);
    tsr_net *net;
    tsr_trainer *trainer;
    REFUSED(tsr_net_create(&(tsr_net_desc){.grown = {1}}, &net), "tsr_net_desc");
    REFUSED(tsr_trainer_create(device, model, &(tsr_trainer_desc){.grown = {1}}, &trainer),
            "tsr_trainer_desc");
    tsr_loss_term new_terms[2] = {{.weight = 1}, {.weight = 1, .grown = {1}}};
    REFUSED(tsr_trainer_create(device, model,
                               &(tsr_trainer_desc){.losses = new_terms, .loss_count = 2}, &trainer),
            "tsr_loss_term");
    REFUSED(tsr_session_set_input_texture(session, "x", &(tsr_texture){.grown = {1}}, 1, 0),
            "tsr_texture");
}
#endif

int main(int argc, char **argv) {
    int reports = 0;
    const char *extra[] = {"a"};
    const tsr_dim_binding batch = {"N", 2};
    const tsr_model_desc model_desc = {
        .custom_ops = ops, .custom_op_count = 2, .progress = {count_report, &reports}};
    const tsr_session_desc desc = {.dims = &batch,
                                   .dim_count = 1,
                                   .extra_outputs = extra,
                                   .extra_output_count = 1,
                                   .progress = {count_report, &reports}};
    tsr_model *model;
    tsr_session *session;
    CHECK(argc == 2);
    tsr_device *device = make_device();
    CHECK_OK(tsr_model_load(argv[1], &model_desc, &model));
    CHECK_OK(tsr_session_create(device, model, &desc, &session));
    CHECK(reports > 1);
    check_tensors(model, session);
    run(session);
    check_reports(session);
    check_primitive(device);
    check_net(device);
#ifdef GROWN
    check_refusals(argv[1], device, model, session);
#endif
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return 0;
}
