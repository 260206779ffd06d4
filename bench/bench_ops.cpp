// bench_ops --op OP [...]: one operation on one device, by every kernel variant that takes it.
//
//   bench_ops --op linear|qkv|linear_glu --rows 2048 --in 2048 --tokens 512 --dtype bf16
//   bench_ops --op attention --heads 32 --kv-heads 8 --head-dim 64 --tokens 1 --depth 512
//
// More: --variants NAME,NAME (all), --kv f16|f32, --window N, --softcap X, --range X (of the first
// operand), --copies N, --rounds N, --device N. Of qkv, q has two thirds of the rows and k a sixth.
//
// A launch is timed twice: by itself between two timestamps, and in a row with others, each after
// the one before it. The weight or cache is there several times, so that a row of launches does not
// find it in the cache of the device. Errors are relative to the largest magnitude of the CPU
// reference, over all outputs of a few tokens.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backend/webgpu/adapters.h"
#include "base/bits.h"
#include "base/packing.h"
#include "base/seconds.h"
#include "graph/builder.h"
#include "kernels/quant/random_matrix.h"

namespace tokamak {
namespace {

using Options = std::map<std::string, std::string>;

/// Read at least that many bytes before the first weight comes again: more than caches of devices.
constexpr uint64_t kColdBytes = uint64_t{256} << 20;
constexpr uint32_t kMaxCopies = 32;

std::string text(const Options& options, const std::string& name, const std::string& otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

uint32_t number(const Options& options, const std::string& name, uint32_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise
                                : uint32_t(std::strtoul(found->second.c_str(), nullptr, 10));
}

/// One operation on random operands, and what the CPU says about some of its tokens.
struct Bench {
  Graph graph;
  uint32_t tokens = 1, depth = 0;
  std::vector<float> x;                      // [tokens, columns]
  std::vector<std::byte> second;             // the weight or the cache
  std::vector<uint32_t> pages;               // attention only
  std::vector<uint32_t> checked;             // tokens
  std::vector<std::vector<float>> expected;  // of each output: rows of the checked tokens

  const Node& node() const { return graph.nodes.back(); }
  const TensorDesc& input(size_t i) const { return graph.at(node().inputs[i]); }
  const TensorDesc& output(size_t i) const { return graph.at(node().outputs[i]); }
};

Result<Graph> product_graph(const std::string& op, const Options& options, DType dtype) {
  const Dim rows = number(options, "rows", 2048), in = number(options, "in", 2048);
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId x = b.embed(tokens, b.constant("table", {1, in}, DType::kF32, Weight{{"table"}}));
  const ValueId w = b.constant("w", {rows, in}, dtype, Weight{{"w"}});
  if (op == "linear") return b.finish(b.linear(x, w));
  if (op == "linear_glu") return b.finish(b.add_node(LinearGlu{Activation::kSilu}, {x, w})[0]);
  const auto q = uint32_t(rows * 2 / 3), k = uint32_t(rows / 6);
  return b.finish(b.add_node(Qkv{q, k}, {x, w})[0]);
}

Result<Graph> attention_graph(const Options& options, uint32_t positions) {
  const uint32_t head_dim = number(options, "head-dim", 64);
  const uint32_t heads = number(options, "heads", 32), kv_heads = number(options, "kv-heads", 8);
  const DType kv = text(options, "kv", "f16") == "f32" ? DType::kF32 : DType::kF16;
  const uint32_t count = ceil_div(positions, kPageTokens);
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId table = b.constant("table", {1, heads * head_dim}, DType::kF32, Weight{{"table"}});
  const ValueId q = b.embed(tokens, table);
  const ValueId pages = b.input("pages", {Dim{count}});
  const ValueId cache = b.kv_cache("cache", kv, Dim{count} * kPageTokens, kv_heads, head_dim);
  const Attention attributes = {
      .scale = 1 / std::sqrt(float(head_dim)),
      .window = number(options, "window", 0),
      .softcap = std::strtof(text(options, "softcap", "0").c_str(), nullptr),
      .causal = true};
  return b.finish(b.attention(q, cache, pages, attributes));
}

/// The checked tokens by the reference. Attention sees one token at a time, each at its position.
void compute_expected(Bench& bench) {
  const auto is_reference = [&](const KernelVariant& v) {
    return v.backend == BackendKind::kCpu && v.needs == 0 && v.op == bench.node().op.index();
  };
  const KernelVariant& reference = *std::ranges::find_if(all_variants(), is_reference);
  const bool one_by_one = !bench.pages.empty();
  const uint32_t columns = uint32_t(bench.input(0).shape[1]);
  bench.expected.resize(bench.node().outputs.size());
  const auto call = [&](std::span<const uint32_t> tokens) {
    std::vector<float> x;
    for (const uint32_t t : tokens) {
      x.insert(x.end(), bench.x.begin() + t * columns, bench.x.begin() + (t + 1) * columns);
    }
    const uint32_t count = uint32_t(tokens.size());
    const Slot slot = {.count = count, .position = bench.depth + (one_by_one ? tokens[0] : 0)};
    std::vector<std::byte> batch;
    write_batch({.rows = count}, {&slot, 1}, std::vector<uint32_t>(count), {}, batch);
    CpuCall cpu{.op = &bench.node().op, .inputs = {}, .outputs = {}, .batch = {{}, batch.data()}};
    const auto add = [&](void* data, const TensorDesc& tensor, std::vector<CpuTensor>& to) {
      to.push_back({static_cast<std::byte*>(data), tensor.dtype, {}});
      for (const Dim dim : tensor.shape) {
        to.back().dims.push_back(dim == kTokens ? count : uint32_t(dim));
      }
    };
    add(x.data(), bench.input(0), cpu.inputs);
    add(bench.second.data(), bench.input(1), cpu.inputs);
    if (one_by_one) add(bench.pages.data(), bench.input(2), cpu.inputs);
    std::vector<std::vector<float>> results;
    for (size_t i = 0; i < bench.expected.size(); ++i) {
      results.emplace_back(count * size_t(bench.output(i).shape[1]));
    }
    for (size_t i = 0; i < results.size(); ++i)
      add(results[i].data(), bench.output(i), cpu.outputs);
    reference.run(cpu);
    for (size_t i = 0; i < results.size(); ++i) {
      bench.expected[i].insert(bench.expected[i].end(), results[i].begin(), results[i].end());
    }
  };
  if (!one_by_one) return call(bench.checked);
  for (const uint32_t& t : bench.checked) call({&t, 1});
}

Result<Bench> make_bench(const Options& options) {
  Bench bench;
  const std::string op = text(options, "op", "linear");
  bench.tokens = std::max(number(options, "tokens", 512), 1u);
  bench.depth = number(options, "depth", 0);
  const auto dtype = dtype_from_name(text(options, "dtype", "bf16"));
  if (!dtype) return fail(ErrorCode::kUsage, "--dtype is no type of weights.");
  if (op == "attention") {
    TOK_TRY(bench.graph, attention_graph(options, bench.depth + bench.tokens));
  } else if (op == "linear" || op == "qkv" || op == "linear_glu") {
    TOK_TRY(bench.graph, product_graph(op, options, *dtype));
  } else {
    return fail(ErrorCode::kUsage, "--op is linear, qkv, linear_glu or attention, not {}.", op);
  }
  std::mt19937 random(7);
  const Shape& shape = bench.input(1).shape;
  const uint64_t columns = uint64_t(shape.back()), rows = element_count(shape, 1) / columns;
  bench.second = random_matrix(bench.input(1).dtype, rows, columns, 1, random);
  if (op == "attention") {
    for (uint32_t i = 0; i < uint32_t(bench.input(2).shape[0]); ++i) bench.pages.push_back(i);
    std::shuffle(bench.pages.begin(), bench.pages.end(), random);
  }
  bench.x.resize(bench.tokens * size_t(bench.input(0).shape[1]));
  const float range = std::strtof(text(options, "range", "2").c_str(), nullptr);
  std::uniform_real_distribution<float> values(-range, range);
  for (float& value : bench.x) value = values(random);
  for (const uint32_t t : {0u, 1u, 17u, bench.tokens / 2, bench.tokens - 1}) {
    const bool known = std::ranges::find(bench.checked, t) != bench.checked.end();
    if (t < bench.tokens && !known) bench.checked.push_back(t);
  }
  compute_expected(bench);
  return bench;
}

/// A plan of nothing but the operation: a phase of `copies` launches, and after it a phase of one
/// launch for each output.
Result<Plan> make_plan(const Bench& bench, const DeviceInfo& device, std::string_view variant,
                       uint32_t copies) {
  const std::string op(op_name(bench.node().op));
  TOK_TRY(Plan plan,
          capture(bench.graph, device,
                  {.phases = {{"op", bench.tokens}}, .forced = {{op, std::string(variant)}}}));
  const Step step = plan.phases[0].steps.back();
  plan.phases[0].steps = {step};
  for (const Operand& output : step.outputs) {
    plan.phases.push_back(plan.phases[0]);
    plan.phases.back().result = output;
  }
  for (uint32_t i = 1; i < copies; ++i) {
    Step copy = step;
    plan.buffers.push_back(plan.at(step.inputs[1].buffer));
    copy.inputs[1].buffer = BufferId(plan.buffers.size() - 1);
    plan.phases[0].steps.push_back(copy);
  }
  return plan;
}

Result<void> write(Program& program, BufferId buffer, const void* data, size_t bytes) {
  std::vector<uint32_t> words(ceil_div(bytes, sizeof(uint32_t)));
  std::memcpy(words.data(), data, bytes);
  return program.write_table(buffer, words);
}

Result<double> largest_error(const Bench& bench, Program& program, const StepRequest& request) {
  double error = 0;
  for (size_t i = 0; i < bench.expected.size(); ++i) {
    StepRequest one = request;
    one.phase = 1 + i;
    std::vector<float> result;
    one.done = [&](Result<std::span<const float>> rows) {
      if (rows) result.assign(rows->begin(), rows->end());
    };
    TOK_TRY(program.submit(one));
    TOK_TRY(program.wait());
    const size_t columns = size_t(bench.output(i).shape[1]);
    if (result.size() != columns * bench.tokens) {
      return fail(ErrorCode::kDevice, "The result was not read back.");
    }
    double largest = 0, difference = 0;
    for (size_t row = 0; row < bench.checked.size(); ++row) {
      for (size_t c = 0; c < columns; ++c) {
        const double want = bench.expected[i][row * columns + c];
        const double off = std::abs(want - double(result[bench.checked[row] * columns + c]));
        largest = std::max(largest, std::abs(want));
        difference = std::max(difference, std::isfinite(off) ? off : HUGE_VAL);
      }
    }
    error = std::max(error, difference / largest);
  }
  return error;
}

struct Times {
  double alone = 0, in_a_row = 0;  // seconds a launch
};

Result<Times> time_it(Program& program, const StepRequest& request, uint32_t rounds,
                      uint32_t copies) {
  Times times{.alone = HUGE_VAL, .in_a_row = HUGE_VAL};
  for (uint32_t round = 0; round < rounds; ++round) {
    if (auto seconds = program.time_launches(request)) {
      std::ranges::sort(*seconds);
      times.alone = std::min(times.alone, (*seconds)[seconds->size() / 2]);
    }
  }
  // Submitted while others run, so that only the first waits for the host.
  const uint32_t submits = std::max(1u, 64 / copies);
  for (uint32_t round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < submits; ++i) TOK_TRY(program.submit(request));
    TOK_TRY(program.wait());
    const double seconds = seconds_since(start);
    times.in_a_row = std::min(times.in_a_row, seconds / (submits * copies));
  }
  return times;
}

Result<void> bench_variant(const Bench& bench, Backend& backend, const KernelVariant& variant,
                           const Options& options) {
  const auto wanted = ceil_div<uint64_t>(kColdBytes, std::max<size_t>(bench.second.size(), 1));
  const uint32_t copies =
      std::max(number(options, "copies", uint32_t(std::min<uint64_t>(wanted, kMaxCopies))), 1u);
  auto plan = make_plan(bench, backend.device(), variant.name, copies);
  if (!plan) {
    if (plan.error().code != ErrorCode::kUnsupported) return Failure(plan.error());
    return {};  // another problem's variant
  }
  const auto reader = [&](const TensorDesc& tensor, Share share, const auto& write) {
    if (tensor.name == "w") return write_whole(bench.second, share, write);
    const std::vector<std::byte> zeros(
        size_t(matrix_bytes(tensor.dtype, uint64_t(tensor.shape[0]), uint64_t(tensor.shape[1]))));
    return write_whole(zeros, share, write);
  };
  TOK_TRY(std::unique_ptr<Program> program, backend.compile(*std::move(plan), reader));
  const Phase& phase = program->plan().phases[0];
  for (const Step& step : phase.steps) {
    if (bench.pages.empty()) break;
    TOK_TRY(write(*program, step.inputs[1].buffer, bench.second.data(), bench.second.size()));
    TOK_TRY(write(*program, step.inputs[2].buffer, bench.pages.data(), 4 * bench.pages.size()));
  }
  TOK_TRY(write(*program, phase.steps[0].inputs[0].buffer, bench.x.data(), 4 * bench.x.size()));
  const std::vector<uint32_t> tokens(bench.tokens);
  const Slot slot = {
      .count = bench.tokens, .position = bench.depth, .length = bench.depth + bench.tokens};
  const StepRequest request{.phase = 0, .slots = {slot}, .tokens = tokens, .done = nullptr};
  TOK_TRY(const double error, largest_error(bench, *program, request));
  TOK_TRY(const Times times, time_it(*program, request, number(options, "rounds", 5), copies));
  const Cost cost =
      step_cost(program->plan(), phase.steps[0], bench.tokens, bench.depth + bench.tokens);
  fmt::print("  {:<40} {:>9.1f} {:>9.1f} us  {:>7.2f} TFLOP/s  {:>6.0f} GB/s  error {:.1e}\n",
             variant.name, times.alone * 1e6, times.in_a_row * 1e6,
             double(cost.flops) / times.in_a_row * 1e-12,
             double(cost.bytes) / times.in_a_row * 1e-9, error);
  std::fflush(stdout);
  return {};
}

Result<void> run(const Options& options) {
  WebGpuOptions webgpu;
  if (options.contains("device")) webgpu.device = number(options, "device", 0);
  TOK_TRY(std::unique_ptr<Backend> backend, open_webgpu_backend(webgpu));
  TOK_TRY(const Bench bench, make_bench(options));
  fmt::print("{}: {} {} x {}, {} tokens after {}\n", backend->device().name,
             op_name(bench.node().op), type_text(bench.input(0)), type_text(bench.input(1)),
             bench.tokens, bench.depth);
  fmt::print("  {:<40} {:>9} {:>9}\n", "variant", "alone", "in a row");
  const std::string names = "," + text(options, "variants", "all") + ",";
  uint32_t failed = 0;
  for (const KernelVariant& variant : all_variants()) {
    const bool wanted = names == ",all," || names.contains(fmt::format(",{},", variant.name));
    if (!wanted || variant.op != bench.node().op.index()) continue;
    if (variant.backend != BackendKind::kWebGpu) continue;
    if (const auto done = bench_variant(bench, *backend, variant, options); !done) {
      fmt::print("  {:<40} {}\n", variant.name, done.error().message);
      ++failed;
    }
  }
  if (failed != 0) return fail(ErrorCode::kDevice, "{} kernels did not run.", failed);
  return {};
}

}  // namespace
}  // namespace tokamak

int main(int argc, char** argv) {
  tokamak::Options options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || std::strncmp(argv[i], "--", 2) != 0) {
      fmt::print(stderr, "usage: bench_ops --op OP [--NAME VALUE]..., see bench/bench_ops.cpp\n");
      return 2;
    }
    options[argv[i] + 2] = argv[i + 1];
  }
  const auto done = tokamak::run(options);
  if (done) return 0;
  fmt::print(stderr, "error: {}\n", done.error().message);
  return 1;
}
