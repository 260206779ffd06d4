#include "kernels/attention/merge_splits.h"

#include <cmath>

#include "kernels/launch.h"

namespace tokamak {
namespace {

void reference(const CpuCall& call) {
  const size_t columns = call.inputs[0].dims[1], out = call.outputs[0].dims[1];
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    merge_splits(call.inputs[0].f32().subspan(t * columns, columns), call.as<MergeSplits>().splits,
                 call.outputs[0].f32().subspan(t * out, out));
  }
}

uint32_t head_dim(const Problem& p) {
  return uint32_t(p.outputs[0].shape[1]) / p.as<MergeSplits>().heads;
}

std::string refuses(const Problem& p, const DeviceInfo&) {
  const uint32_t d = head_dim(p);
  return d % 2 == 0 ? "" : fmt::format("heads of {} elements are odd", d);
}

Launch launch(const Problem& p, const DeviceInfo&) {
  const MergeSplits& op = p.as<MergeSplits>();
  const uint32_t pairs = head_dim(p) / 2, threads = power_of_two(pairs, 32, 64);
  return {.constants = {{"THREADS", threads},
                        {"SPLITS", op.splits},
                        {"HEADS", op.heads},
                        {"HEAD_PAIRS", pairs}},
          .sources = {"attention/merge_splits.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(pairs, threads)}, .y = {op.heads}, .z = {1, 1}}};
}

constexpr KernelVariant kMergeSplitsVariants[] = {
    {.name = "merge_splits.wgsl",
     .op = op_index<MergeSplits>(),
     .refuses = refuses,
     .launch = launch},
    {.name = "merge_splits.cpu",
     .op = op_index<MergeSplits>(),
     .backend = BackendKind::kCpu,
     .run = reference},
};

}  // namespace

void merge_splits(std::span<const float> row, size_t splits, std::span<float> y) {
  const size_t in = y.size(), heads = (row.size() / splits - in) / 2, head_dim = in / heads;
  std::vector<double> sums(head_dim);
  for (size_t head = 0; head < heads; ++head) {
    const auto score = [&](size_t split) {
      return row.subspan(splits * in + (split * heads + head) * 2, 2);
    };
    double largest = -HUGE_VAL, total = 0;
    for (size_t s = 0; s < splits; ++s) largest = std::max(largest, double(score(s)[0]));
    std::ranges::fill(sums, 0.0);
    for (size_t s = 0; s < splits; ++s) {
      const double share = std::exp(double(score(s)[0]) - largest);
      total += share * double(score(s)[1]);
      for (size_t i = 0; i < head_dim; ++i) {
        sums[i] += share * double(row[s * in + head * head_dim + i]);
      }
    }
    for (size_t i = 0; i < head_dim; ++i) y[head * head_dim + i] = float(sums[i] / total);
  }
}

std::span<const KernelVariant> merge_splits_variants() {
  return kMergeSplitsVariants;
}

}  // namespace tokamak
