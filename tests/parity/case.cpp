#include "case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/bits.h"
#include "base/packing.h"
#include "kernels/quant/random_matrix.h"

namespace tokamak::parity {
namespace {

/// Pages that a slot has of a cache; 0 without a cache.
uint32_t slot_pages(const Plan& plan) {
  const auto cache = std::ranges::find_if(plan.buffers, is_kv_cache);
  return cache == plan.buffers.end() ? 0
                                     : uint32_t(cache->tensor.shape[0]) / kPageTokens / plan.slots;
}

void fill(Program& program, const Case& c) {
  const Plan& plan = program.plan();
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.use == BufferUse::kTable) {
      std::vector<uint32_t> tables;
      for (uint32_t slot = 0; slot < plan.slots; ++slot) {
        for (const uint32_t page : c.tables.at(buffer.tensor.name)) {
          tables.push_back(slot * slot_pages(plan) + page);
        }
      }
      ASSERT_TRUE(program.write_table(BufferId(i), tables));
    } else if (is_written_by_device(buffer.use)) {
      ASSERT_TRUE(program.write_table(BufferId(i),
                                      std::vector<uint32_t>(size_t(buffer.bytes / 4), kNoise)));
    }
  }
}

/// The content of `tensor`: one of the case's constants, or some rows of it.
std::vector<std::byte> content(const Case& c, const TensorDesc& tensor) {
  const auto* weight = std::get_if<Weight>(&tensor.recipe);
  if (weight == nullptr) return c.constants.at(tensor.name);
  const WeightPart& part = weight->parts.front();
  const std::vector<std::byte>& whole = c.constants.at(part.name);
  if (part.rows == 0) return whole;
  const auto named = [&](const TensorDesc& value) { return value.name == part.name; };
  const Shape& shape = std::ranges::find_if(c.graph.values, named)->shape;
  const uint64_t columns = uint64_t(shape[1]);
  std::vector<std::byte> rows(matrix_bytes(tensor.dtype, part.rows, columns));
  const auto copy = [&](uint64_t from, uint64_t to, uint64_t row_bytes) {
    std::memcpy(rows.data() + to, whole.data() + from + part.first_row * row_bytes,
                part.rows * row_bytes);
  };
  if (!is_packed(tensor.dtype)) {
    copy(0, 0, columns * dtype_bytes(tensor.dtype));
    return rows;
  }
  const WeightFormat& p = weight_format(tensor.dtype);
  const auto from = stream_offsets(p, uint64_t(shape[0]), columns);
  const auto to = stream_offsets(p, part.rows, columns);
  for (const Stream stream : kStreams) {
    copy(from[size_t(stream)], to[size_t(stream)], stream_row_bytes(p, stream, columns));
  }
  return rows;
}

/// In pieces of a length that fits nothing.
ConstantReader reader(const Case& c) {
  return [&c](const TensorDesc& tensor, Share share, const auto& write) -> Result<void> {
    if (share.index > 0) return {};
    constexpr size_t kPiece = 1012;
    const std::vector<std::byte> bytes = content(c, tensor);
    for (size_t at = 0; at < bytes.size(); at += kPiece) {
      TOK_TRY(write(at, std::span(bytes).subspan(at, std::min(kPiece, bytes.size() - at))));
    }
    return {};
  };
}

}  // namespace

CaseBuilder::CaseBuilder(std::string name) : random_(uint32_t(name.size()) * 7919) {
  case_.name = std::move(name);
  tokens_ = builder_.input("tokens", {kTokens});
}

ValueId CaseBuilder::random(const std::string& name, Shape shape, DType dtype, float range) {
  const uint64_t columns = uint64_t(shape.back()), rows = element_count(shape, 1) / columns;
  case_.constants[name] = random_matrix(dtype, rows, columns, range, random_);
  return builder_.constant(name, std::move(shape), dtype, Weight{{name}});
}

ValueId CaseBuilder::constant(const std::string& name, Shape shape,
                              const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  case_.constants[name].assign(bytes.begin(), bytes.end());
  return builder_.constant(name, std::move(shape), DType::kF32, Weight{{name}});
}

ValueId CaseBuilder::order(const std::string& name, Shape shape) {
  const size_t columns = size_t(shape.back()), count = size_t(element_count(shape, 1));
  std::vector<uint32_t> numbers(count);
  for (size_t at = 0; at < count; at += columns) {
    const std::span<uint32_t> row = std::span(numbers).subspan(at, columns);
    std::iota(row.begin(), row.end(), 0u);
    std::shuffle(row.begin(), row.end(), random_);
  }
  const auto bytes = std::as_bytes(std::span(numbers));
  case_.constants[name].assign(bytes.begin(), bytes.end());
  return builder_.constant(name, std::move(shape), DType::kU32, ColumnOrder{{name}});
}

ValueId CaseBuilder::activation(uint32_t columns, float range) {
  const ValueId table =
      random(fmt::format("x{}", activations_++), {kVocab, columns}, DType::kF32, range);
  return builder_.embed(tokens_, table);
}

ValueId CaseBuilder::positive_activation(uint32_t columns) {
  std::uniform_real_distribution<float> some(0.5f, 1.5f);
  std::vector<float> values(size_t{kVocab} * columns);
  for (float& value : values) value = some(random_);
  return builder_.embed(
      tokens_, constant(fmt::format("x{}", activations_++), {kVocab, Dim{columns}}, values));
}

ValueId CaseBuilder::pages(uint32_t positions, uint32_t kept, uint32_t& slots) {
  const uint32_t count = ceil_div(positions, kPageTokens);
  const uint32_t held = kept == 0 ? count : ceil_div(kept, kPageTokens) + 1;
  std::vector<uint32_t> place(held);
  std::iota(place.begin(), place.end(), 0u);
  std::shuffle(place.begin(), place.end(), random_);
  std::vector<uint32_t>& table = case_.tables["pages"];
  for (uint32_t i = 0; i < count; ++i) table.push_back(place[i % held]);
  slots = held * kPageTokens;
  return builder_.input("pages", {Dim{count}});
}

ValueId CaseBuilder::ends(uint32_t end) {
  case_.end = end;
  return builder_.input("ends", {kTokens});
}

ValueId CaseBuilder::spans(uint32_t positions) {
  case_.span = positions;
  return builder_.input("spans", {kTokens, 2});
}

Case CaseBuilder::finish(ValueId result, Steps steps, double tolerance) {
  auto graph = builder_.finish(result);
  EXPECT_TRUE(graph) << case_.name << ": " << graph.error().message;
  if (graph) case_.graph = *std::move(graph);
  case_.steps = std::move(steps);
  case_.tolerance = tolerance;
  return std::move(case_);
}

Result<Plan> plan_of(const Case& c, const Backend& backend, const ForcedVariants& forced) {
  return capture(c.graph, backend.device(),
                 {.phases = {{"phase", c.steps.max_tokens}}, .forced = forced});
}

Result<Plan> batch_plan_of(const Case& c, const Backend& backend, const ForcedVariants& forced) {
  Graph graph = c.graph;
  for (TensorDesc& value : graph.values) {
    if (value.state && value.state->has_cells()) value.shape[0] *= kBatchSlots;
  }
  const bool decodes = c.steps.max_tokens == 1;
  PhaseRequest phase = {"phase", decodes ? kSequences : c.steps.max_tokens};
  if (decodes) phase.kind = PhaseKind::kDecode;
  return capture(graph, backend.device(),
                 {.phases = {phase}, .forced = forced, .slots = kBatchSlots});
}

std::unique_ptr<Program> start(const Case& c, Backend& backend, Plan plan) {
  auto program = backend.compile(std::move(plan), reader(c));
  if (!program) {
    ADD_FAILURE() << c.name << ": " << program.error().message;
    return nullptr;
  }
  fill(**program, c);
  return *std::move(program);
}

namespace {

/// The ends or the spans of a step's rows.
class Ends {
 public:
  Ends(const Case& c, const Plan& plan, std::span<const Slot> slots) {
    for (const Slot& slot : slots) {
      for (uint32_t i = 0; i < slot.count; ++i) {
        if (c.span == 0) {
          values_.push_back(c.end);
          continue;
        }
        const uint32_t lacking = c.span / 3, after = (i + lacking) / c.span * c.span + c.span;
        values_.push_back(std::max(after - c.span, lacking) - lacking);
        values_.push_back(std::min(after - lacking, slot.count));
      }
    }
    for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.buffers[i].use != BufferUse::kInput) continue;
      write_ = {BufferId(i), std::as_bytes(std::span<const uint32_t>(values_))};
      count_ = 1;
    }
  }
  std::span<const InputWrite> writes() const { return {&write_, count_}; }

 private:
  std::vector<uint32_t> values_;
  InputWrite write_;
  size_t count_ = 0;
};

}  // namespace

Run run(const Case& c, Backend& backend) {
  auto plan = plan_of(c, backend);
  if (plan) return run(c, backend, *std::move(plan));
  ADD_FAILURE() << c.name << ": " << plan.error().message;
  return {};
}

Run run(const Case& c, Backend& backend, Plan plan) {
  Run run;
  const std::unique_ptr<Program> program = start(c, backend, std::move(plan));
  if (program == nullptr) return run;
  std::mt19937 random(1);
  Slot slot = {.rule = c.rule};
  for (const uint32_t chunk : c.steps.chunks) {
    std::vector<uint32_t> tokens(chunk);
    for (uint32_t& token : tokens) token = uint32_t(random()) % kVocab;
    slot.count = chunk;
    slot.length = slot.position + chunk;
    slot.adapter = (slot.adapter + 1) % (c.adapters + 1);
    const auto keep = [&run, &c](Result<std::span<const float>> result) {
      if (!result) {
        ADD_FAILURE() << c.name << ": " << result.error().message;
        return;
      }
      run.results.emplace_back(result->begin(), result->end());
    };
    const Ends ends(c, program->plan(), {&slot, 1});
    const auto submitted = program->submit(
        {.phase = 0, .slots = {slot}, .tokens = tokens, .inputs = ends.writes(), .done = keep});
    EXPECT_TRUE(submitted) << c.name << ": " << submitted.error().message;
    slot.position += chunk;
  }
  const auto waited = program->wait();
  EXPECT_TRUE(waited) << c.name << ": " << waited.error().message;
  return run;
}

std::vector<Part> parts_of(const Case& c, size_t step) {
  const uint32_t chunk = c.steps.chunks[step];
  std::vector<Part> parts;
  for (uint32_t i = 0; i < kSequences; ++i) {
    const uint32_t sequence = (i + uint32_t(step)) % kSequences;
    uint32_t count = 1;
    if (c.steps.max_tokens > 1) {
      count = chunk < kSequences ? (i < chunk ? 1 : 0) : chunk / kSequences;
      if (i == 0 && chunk >= kSequences) count += chunk % kSequences;
    }
    if (count > 0) parts.push_back({sequence, count});
  }
  return parts;
}

namespace {

/// Token `position` of a sequence.
uint32_t token_of(uint32_t sequence, uint32_t position) {
  return (position * 13 + sequence * 7 + position * position) % kVocab;
}

Run run_slots(const Case& c, Backend& backend, Plan plan, std::span<const uint32_t> sequences) {
  Run run;
  const std::unique_ptr<Program> program = start(c, backend, std::move(plan));
  if (program == nullptr) return run;
  const Phase& phase = program->plan().phases[0];
  const bool chooses = program->plan().at(phase.result.buffer).use == BufferUse::kSampled;
  std::vector<uint32_t> positions(kSequences);
  for (size_t step = 0; step < c.steps.chunks.size(); ++step) {
    StepRequest request;
    std::vector<uint32_t> tokens;
    for (const auto& [sequence, count] : parts_of(c, step)) {
      if (std::ranges::find(sequences, sequence) == sequences.end()) continue;
      uint32_t& position = positions[sequence];
      request.slots.push_back({.count = count,
                               .position = position,
                               .length = position + count,
                               .index = sequences.size() == 1 ? 0 : kIndices[sequence],
                               .rule = c.rule,
                               .adapter = sequence % (c.adapters + 1)});
      for (const uint32_t end = position + count; position < end; ++position) {
        tokens.push_back(token_of(sequence, position));
      }
    }
    if (tokens.empty()) continue;
    request.tokens = tokens;
    const Ends ends(c, program->plan(), request.slots);
    request.inputs = ends.writes();
    if (chooses) {
      request.result_bytes =
          phase.max_tokens * byte_count(phase.result.dtype, phase.result.shape, 1);
    }
    request.done = [&](Result<std::span<const float>> result) {
      ASSERT_TRUE(result) << c.name << ": " << result.error().message;
      run.results.emplace_back(result->begin(), result->end());
    };
    EXPECT_TRUE(program->submit(request)) << c.name;
  }
  EXPECT_TRUE(program->wait()) << c.name;
  return run;
}

}  // namespace

Run run_batch(const Case& c, Backend& backend, Plan plan) {
  const uint32_t all[] = {0, 1, 2};
  static_assert(std::size(all) == kSequences);
  return run_slots(c, backend, std::move(plan), all);
}

Run run_alone(const Case& c, Backend& backend, uint32_t sequence) {
  auto plan = plan_of(c, backend);
  if (plan) return run_slots(c, backend, *std::move(plan), {&sequence, 1});
  ADD_FAILURE() << c.name << ": " << plan.error().message;
  return {};
}

void expect_close(const Case& c, const Run& expected, const Run& actual) {
  ASSERT_EQ(expected.results.size(), c.steps.chunks.size()) << c.name;
  ASSERT_EQ(actual.results.size(), c.steps.chunks.size()) << c.name;
  for (size_t step = 0; step < c.steps.chunks.size(); ++step) {
    const std::vector<float>& want = expected.results[step];
    const std::vector<float>& have = actual.results[step];
    ASSERT_EQ(want.size(), have.size()) << c.name << ", step " << step;
    double largest = 1;  // inputs are about 1, and so are the terms of what cancels to less
    for (const float value : want) {
      ASSERT_TRUE(std::isfinite(value)) << c.name << ": the reference gives no finite result";
      largest = std::max(largest, std::abs(double(value)));
    }
    for (size_t i = 0; i < want.size(); ++i) {
      const double difference = std::abs(double(want[i]) - double(have[i]));
      // Written so that NaN fails.
      ASSERT_TRUE(difference <= c.tolerance * largest)
          << c.name << ", step " << step << ", element " << i << ": " << have[i] << ", expected "
          << want[i] << " within " << c.tolerance << " of " << largest;
    }
  }
}

}  // namespace tokamak::parity
