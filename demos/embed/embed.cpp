// Tessera from C++17: handles that destroy themselves, errors as exceptions, a lambda that is told
// about progress and may cancel, and tensors by name as spans.
//
//     embed MODEL gles|webgpu|cpu [--cancel]
//
// Fills the model's inputs, runs it, and prints shape, mean and extremes of each output. --cancel
// gives up at the first report of progress.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <tessera.h>

namespace tessera {

struct error : std::runtime_error {
    explicit error(tsr_status s) : std::runtime_error(tsr_last_error()), status(s) {}
    tsr_status status;
};

inline void check(tsr_status status) {
    if (status != TSR_OK)
        throw error(status);
}

// std::unique_ptr of an incomplete type needs no more than how to destroy it.
template <auto destroy> struct destroyer {
    template <class T> void operator()(T *object) const { destroy(object); }
};
using device = std::unique_ptr<tsr_device, destroyer<tsr_device_destroy>>;
using model = std::unique_ptr<tsr_model, destroyer<tsr_model_free>>;
using session = std::unique_ptr<tsr_session, destroyer<tsr_session_destroy>>;

// C++20 has std::span.
template <class T> struct span {
    T *data;
    std::size_t size;
    T *begin() const { return data; }
    T *end() const { return data + size; }
};

// what, and the fraction that is done; false cancels. Must not throw: its callers are written in C.
using progress = std::function<bool(const char *what, double fraction)>;

inline device make_device(const char *backend) {
    tsr_device_desc desc = {};
    desc.backend = backend;
    tsr_device *made = nullptr;
    check(tsr_device_create(&desc, &made));
    return device(made);
}

inline model load_model(const char *path) {
    tsr_model *made = nullptr;
    check(tsr_model_load(path, nullptr, &made));
    return model(made);
}

inline session make_session(const device &device, const model &model, progress told) {
    tsr_session_desc desc = {};
    desc.progress.user = &told;
    desc.progress.fn = [](void *user, const char *what, double fraction) {
        return (*static_cast<progress *>(user))(what, fraction);
    };
    tsr_session *made = nullptr;
    check(tsr_session_create(device.get(), model.get(), &desc, &made));
    return session(made);
}

inline void set_input(const session &session, const char *name, span<const float> from) {
    check(tsr_session_set_input(session.get(), name, from.data, from.size));
}

inline void get_output(const session &session, const char *name, span<float> to) {
    check(tsr_session_get_output(session.get(), name, to.data, to.size));
}

} // namespace tessera

static std::size_t count_of(const tsr_tensor_info &info) {
    return static_cast<std::size_t>(tsr_shape_count(&info.shape));
}

static void print(const tsr_tensor_info &info, tessera::span<const float> elements) {
    double sum = 0;
    for (float x : elements)
        sum += static_cast<double>(x);
    std::printf("%s [", info.name);
    for (int i = 0; i < info.shape.rank; i++)
        std::printf("%s%lld", i ? ", " : "", static_cast<long long>(info.shape.dim[i]));
    std::printf("]");
    if (elements.size > 0) {
        auto [least, most] = std::minmax_element(elements.begin(), elements.end());
        std::printf(" mean %.5f least %.5f most %.5f", sum / static_cast<double>(elements.size),
                    static_cast<double>(*least), static_cast<double>(*most));
    }
    std::printf("\n");
}

static void run(const char *path, const char *backend, bool cancel) {
    tessera::device device = tessera::make_device(backend);
    tessera::model model = tessera::load_model(path);
    int reports = 0;
    tessera::session session =
        tessera::make_session(device, model, [&](const char *what, double fraction) {
            reports++;
            if (fraction == 1)
                std::fprintf(stderr, "%s: done\n", what);
            return !cancel;
        });
    tsr_tensor_info info;
    for (int i = 0; i < tsr_session_input_count(session.get()); i++) {
        tessera::check(tsr_session_input(session.get(), i, &info));
        std::vector<float> elements(count_of(info));
        for (std::size_t k = 0; k < elements.size(); k++)
            elements[k] = static_cast<float>(k * 37 % 256) / 255;
        tessera::set_input(session, info.name, {elements.data(), elements.size()});
    }
    tessera::check(tsr_session_run(session.get()));
    for (int i = 0; i < tsr_session_output_count(session.get()); i++) {
        tessera::check(tsr_session_output(session.get(), i, &info));
        std::vector<float> elements(count_of(info));
        tessera::get_output(session, info.name, {elements.data(), elements.size()});
        print(info, {elements.data(), elements.size()});
    }
    std::fprintf(stderr, "%d reports of progress\n", reports);
} // the session goes first, then the model and the device

int main(int argc, char **argv) {
    bool cancel = argc == 4 && std::strcmp(argv[3], "--cancel") == 0;
    if (argc != 3 && !cancel) {
        std::fputs("usage: embed MODEL gles|webgpu|cpu [--cancel]\n", stderr);
        return 2;
    }
    try {
        run(argv[1], argv[2], cancel);
    } catch (const tessera::error &e) {
        std::fprintf(stderr, "embed: %s (%s)\n", e.what(), tsr_status_name(e.status));
        return 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "embed: %s\n", e.what());
        return 1;
    }
    return 0;
}
