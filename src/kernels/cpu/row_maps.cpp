// Rows of the variant tables for what is computed row by row: norms and activations.
#include <algorithm>
#include <vector>

#include "kernels/cpu/arrays.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"
#include "kernels/embed/embed.h"

namespace tokamak {
namespace {

/// Elements of an array that a thread takes at once.
constexpr size_t kPart = 4096;

/// Calls body(first, count) for parts of an array.
template <typename Body>
void over_array(const CpuCall& call, size_t size, size_t each, const Body& body) {
  over_parts(call, (size + kPart - 1) / kPart, each * kPart,
             [&](size_t part) { body(part * kPart, std::min(size - part * kPart, kPart)); });
}

void rms_norm(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = w.size();
  over_parts(call, x.size() / n, n, [&](size_t i) {
    norm_array(x.subspan(i * n, n), w, call.as<RmsNorm>().eps, y.subspan(i * n, n));
  });
}

void add_rms_norm(const CpuCall& call) {
  const auto& op = call.as<AddRmsNorm>();
  const std::span<const float> a = call.inputs[0].f32(), b = call.inputs[1].f32();
  const std::span<float> sum = call.outputs[0].f32(), y = call.outputs[1].f32();
  const size_t n = call.inputs[2].dims[0];
  over_parts(call, sum.size() / n, (2 + op.parts) * n, [&](size_t t) {
    const std::span<float> own = sum.subspan(t * n, n);
    add_arrays(a.subspan(t * op.parts * n, n), b.subspan(t * n, n), own);
    for (size_t p = 1; p < op.parts; ++p) {
      add_arrays(a.subspan((t * op.parts + p) * n, n), own, own);
    }
    norm_array(own, call.inputs[2].f32(), op.eps, y.subspan(t * n, n));
  });
}

void norm_add(const CpuCall& call) {
  const auto& op = call.as<NormAdd>();
  const std::span<const float> x = call.inputs[0].f32(), a = call.inputs[1].f32();
  const std::span<const float> w = call.inputs[2].f32();
  const std::span<float> sum = call.outputs.back().f32();
  const size_t n = w.size();
  const float factor = op.factor * (op.scaled ? call.inputs[3].f32()[0] : 1.0f);
  over_parts(call, x.size() / n, 3 * n, [&](size_t t) {
    const std::span<float> own = sum.subspan(t * n, n);
    std::vector<float> normed(n);
    norm_array(x.subspan(t * n, n), w, op.eps, normed);
    for (size_t i = 0; i < n; ++i) own[i] = (a[t * n + i] + normed[i]) * factor;
    if (!op.normed) return;
    norm_array(own, call.inputs.back().f32(), op.eps, call.outputs[0].f32().subspan(t * n, n));
  });
}

/// Results in halves are for matrix units of GPUs.
std::string rounds(const Problem& p, const DeviceInfo&) {
  return p.as<NormAdd>().rounded == Half::kNone ? "" : "does not round its results";
}

void add(const CpuCall& call) {
  const std::span<const float> a = call.inputs[0].f32(), b = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_array(call, y.size(), 1, [&](size_t first, size_t count) {
    add_arrays(a.subspan(first, count), b.subspan(first, count), y.subspan(first, count));
  });
}

void glu(const CpuCall& call) {
  const auto& op = call.as<Glu>();
  const std::span<const float> gate = call.inputs[0].f32(), up = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.outputs[0].dims[1], up_columns = call.inputs[1].dims[1];
  over_parts(call, y.size() / columns, 16 * columns, [&](size_t t) {
    gate_arrays(op.activation, gate.subspan(t * columns, columns),
                up.subspan(t * up_columns + op.first, columns), y.subspan(t * columns, columns));
  });
}

void activate(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_array(call, y.size(), 16, [&](size_t first, size_t count) {
    activate_array(call.as<Activate>().activation, x.subspan(first, count),
                   y.subspan(first, count));
  });
}

void softcap(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_array(call, y.size(), 16, [&](size_t first, size_t count) {
    cap_array(call.as<Softcap>().cap, x.subspan(first, count), y.subspan(first, count));
  });
}

void embed(const CpuCall& call) {
  const size_t columns = call.outputs[0].dims[1];
  over_parts(call, call.outputs[0].dims[0], 16 * columns, [&](size_t t) { embed_token(call, t); });
}

constexpr KernelVariant kVariants[] = {
    vector_row<Embed>("embed.cpu.vectors", embed),
    vector_row<RmsNorm>("rms_norm.cpu.vectors", rms_norm),
    vector_row<AddRmsNorm>("add_rms_norm.cpu.vectors", add_rms_norm),
    {.name = "norm_add.cpu.vectors",
     .op = op_index<NormAdd>(),
     .backend = BackendKind::kCpu,
     .needs = kFeatureVectors,
     .refuses = rounds,
     .run = norm_add},
    vector_row<Add>("add.cpu.vectors", add),
    vector_row<Glu>("glu.cpu.vectors", glu),
    vector_row<Activate>("activate.cpu.vectors", activate),
    vector_row<Softcap>("softcap.cpu.vectors", softcap),
};

}  // namespace

std::span<const KernelVariant> vector_row_variants() {
  return kVariants;
}

}  // namespace tokamak
