// The bandwidth that benchmarks and profiles compare with, measured through the same plans.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/bits.h"
#include "graph/builder.h"
#include "report/bench/bench.h"
#include "report/bench/roofline.h"

namespace tokamak {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{256} << 20;
constexpr uint32_t kChain = 16;     // kernels in a step, each waiting for the one before
constexpr int kSteps = 8;           // submitted at once, so that submitting and waiting hide
constexpr int kProcessorSteps = 1;  // it is the one that submits: there is nothing to hide
constexpr int kTries = 4;

struct Stream {
  Graph graph;
  uint32_t tokens = 1;
  float constant = 0;  // every element of every constant; results are 1
  double bytes = 0;    // moved by a step
};

/// Scale by 1, from one large activation to the next; one row comes back.
Result<Stream> copying(uint64_t bytes) {
  const uint32_t columns = uint32_t(std::min<uint64_t>(1u << 20, bytes / 8));
  Stream stream{.constant = 1};
  stream.tokens = uint32_t(bytes / (4 * columns));
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId table = b.constant("table", {1, columns}, DType::kF32, Weight{{"table"}});
  ValueId x = b.embed(tokens, table);
  for (uint32_t i = 0; i < kChain; ++i) x = b.scale(x, 1);
  TOK_TRY(stream.graph, b.finish(b.last_row(x)));
  stream.bytes = (2.0 * kChain + 1) * 4 * columns * stream.tokens;
  return stream;
}

/// One large matrix times a vector again and again. Its entries are 1/n, so that ones stay ones.
Result<Stream> reading(uint64_t bytes) {
  const uint32_t n = uint32_t(std::sqrt(double(bytes / 4))) / 64 * 64;
  Stream stream{.constant = 1.0f / float(n)};
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId w = b.constant("w", {n, n}, DType::kF32, Weight{{"w"}});
  ValueId x = b.scale(b.embed(tokens, w), float(n));
  for (uint32_t i = 0; i < kChain; ++i) x = b.linear(x, w);
  TOK_TRY(stream.graph, b.finish(x));
  stream.bytes = double(kChain) * 4 * n * n;
  return stream;
}

struct ProductSize {
  uint32_t n = 0, rows = 0;
};

/// Large enough to keep the device busy and done in a few seconds; powers of two, so that 1/n is a
/// bf16.
ProductSize product_size(const DeviceInfo& device) {
  if (device.backend == BackendKind::kCpu) return {256, 4};
  if (device.software) return {512, 32};
  return {2048, 1024};
}

/// Streams like reading(), with many rows.
Result<Stream> multiplying(ProductSize size) {
  Stream stream{.constant = 1.0f / float(size.n)};
  stream.tokens = size.rows;
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId w = b.constant("w", {size.n, size.n}, DType::kBF16, Weight{{"w"}});
  ValueId x = b.scale(b.embed(tokens, w), float(size.n));
  for (uint32_t i = 0; i < kChain; ++i) x = b.linear(x, w);
  TOK_TRY(stream.graph, b.finish(b.last_row(x)));
  return stream;
}

/// Many launches on next to no data.
Result<Stream> launching() {
  constexpr uint32_t kLaunches = 256, kColumns = 64;
  Stream stream{.constant = 1};
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId table = b.constant("table", {1, kColumns}, DType::kF32, Weight{{"table"}});
  ValueId x = b.embed(tokens, table);
  for (uint32_t i = 0; i < kLaunches; ++i) x = b.scale(x, 1);
  TOK_TRY(stream.graph, b.finish(x));
  return stream;
}

/// Seconds of a step, the best of some tries; an error when the results are not what they must be.
Result<double> measure(Backend& backend, const Stream& stream, const Clock& clock) {
  TOK_TRY(Plan plan, capture(stream.graph, backend.device(),
                             {.phases = {{"stream", stream.tokens}}, .forced = {}}));
  const auto fill = [&](const TensorDesc& tensor, Share share, const auto& write) -> Result<void> {
    if (share.index > 0) return {};
    const std::vector<float> floats(size_t{1} << 20, stream.constant);
    const std::vector<uint16_t> halves(floats.size(), f32_to_bf16(stream.constant));
    const bool is_half = tensor.dtype == DType::kBF16;
    const auto bytes =
        is_half ? std::as_bytes(std::span(halves)) : std::as_bytes(std::span(floats));
    const uint64_t end = byte_count(tensor, 1);
    for (uint64_t at = 0; at < end; at += bytes.size()) {
      TOK_TRY(write(at, bytes.first(size_t(std::min<uint64_t>(end - at, bytes.size())))));
    }
    return {};
  };
  TOK_TRY(const std::unique_ptr<Program> program, backend.compile(std::move(plan), fill));
  const std::vector<uint32_t> tokens(stream.tokens);
  StepRequest request{.phase = 0, .slots = {{.count = stream.tokens}}, .tokens = tokens};
  bool right = false;
  request.done = [&](Result<std::span<const float>> row) {
    right = row && std::all_of(row->begin(), row->end(),
                               [](float value) { return std::abs(value - 1) < 1e-3f; });
  };
  TOK_TRY(program->submit(request));
  request.done = {};
  TOK_TRY(program->wait());
  if (!right) {
    return fail(ErrorCode::kDevice, "Measuring the bandwidth of \"{}\" gives wrong results.",
                backend.device().name);
  }
  const int steps = backend.device().backend == BackendKind::kCpu ? kProcessorSteps : kSteps;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const double start = clock();
    for (int step = 0; step < steps; ++step) TOK_TRY(program->submit(request));
    TOK_TRY(program->wait());
    best = std::min(best, (clock() - start) / steps);
  }
  return best;
}

double copy_on_host(const Clock& clock) {
  const std::vector<std::byte> from(size_t{64} << 20, std::byte{1});
  std::vector<std::byte> to(from.size());
  double best = 0;
  for (int i = 0; i <= kTries; ++i) {
    const double start = clock();
    std::memcpy(to.data(), from.data(), from.size());
    // A copy whose result nobody reads could be left out.
    if (to[size_t(i) * 4096] == std::byte{1} && i > 0) {
      best = std::max(best, 2.0 * double(from.size()) / (clock() - start));
    }
  }
  return best;
}

}  // namespace

Result<double> stream_bandwidth(Backend& backend, uint64_t bytes, const Clock& clock) {
  TOK_TRY(const Stream copy, copying(bytes));
  TOK_TRY(const Stream read, reading(bytes));
  TOK_TRY(const double copied, measure(backend, copy, clock));
  TOK_TRY(const double streamed, measure(backend, read, clock));
  return std::max(copy.bytes / copied, read.bytes / streamed);
}

Result<double> measure_bandwidth(Backend& backend, const Clock& clock) {
  const DeviceInfo& device = backend.device();
  if (device.software) return copy_on_host(clock);
  return stream_bandwidth(
      backend, std::min({kBufferBytes, device.limits.binding_bytes, device.limits.buffer_bytes}),
      clock);
}

Result<double> measure_launch(Backend& backend, const Clock& clock) {
  TOK_TRY(const Stream stream, launching());
  TOK_TRY(const double seconds, measure(backend, stream, clock));
  return seconds / double(stream.graph.nodes.size());
}

Result<Roofline> measure_roofline(Backend& backend, const Clock& clock) {
  Roofline out;
  TOK_TRY(out.bandwidth, measure_bandwidth(backend, clock));
  TOK_TRY(out.launch_seconds, measure_launch(backend, clock));
  const ProductSize size = product_size(backend.device());
  TOK_TRY(const Stream stream, multiplying(size));
  TOK_TRY(const double seconds, measure(backend, stream, clock));
  out.flops = 2.0 * kChain * size.n * size.n * size.rows / seconds;
  return out;
}

}  // namespace tokamak
