// One graph, its constants and the steps to run: the unit of the parity tests.
#pragma once
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/builder.h"

namespace tokamak::parity {

/// Tokens of a phase, and of each step, one after the other.
struct Steps {
  uint32_t max_tokens = 1;
  std::vector<uint32_t> chunks;
};

struct Case {
  std::string name;
  Graph graph;
  std::map<std::string, std::vector<std::byte>> constants;
  std::map<std::string, std::vector<uint32_t>> tables;
  Steps steps;
  double tolerance = 0;   // of the largest magnitude in the step's result, at least 1
  SamplingRule rule;      // of every step
  uint32_t end = 0;       // of every row, where the graph has ends
  uint32_t span = 0;      // positions of each, where the graph has spans
  uint32_t adapters = 0;  // that steps, or sequences, and none take turns with
};

/// Token ids are below this; tables of embeddings have that many rows.
inline constexpr uint32_t kVocab = 41;

/// Writes a Case down, with random constants that are the same in every run.
class CaseBuilder {
 public:
  explicit CaseBuilder(std::string name);

  GraphBuilder& graph() { return builder_; }
  ValueId tokens() const { return tokens_; }
  /// A constant of values in [-range, range].
  ValueId random(const std::string& name, Shape shape, DType dtype = DType::kF32, float range = 1);
  /// A constant of these values.
  ValueId constant(const std::string& name, Shape shape, const std::vector<float>& values);
  /// u32 [..., columns]: in each row the numbers below `columns`, shuffled.
  ValueId order(const std::string& name, Shape shape);
  /// f32 [T, columns] in [-range, range].
  ValueId activation(uint32_t columns, float range = 1);
  /// f32 [T, columns] in [0.5, 1.5].
  ValueId positive_activation(uint32_t columns);
  /// A page table that scatters `positions` positions over the cache, or keeps reusing the pages of
  /// a window that holds `kept` positions; `slots` receives the slots the cache needs.
  ValueId pages(uint32_t positions, uint32_t kept, uint32_t& slots);
  /// u32 [T]: that of every row.
  ValueId ends(uint32_t end);
  /// u32 [T, 2]: spans of that many positions, of which the first is shorter.
  ValueId spans(uint32_t positions);

  Case finish(ValueId result, Steps steps, double tolerance);

 private:
  GraphBuilder builder_;
  Case case_;
  std::mt19937 random_;
  ValueId tokens_ = {};
  uint32_t activations_ = 0;
};

struct Run {
  std::vector<std::vector<float>> results;  // one per step
};

/// The case's plan for `backend`; an error where the forced kernels refuse its shape.
Result<Plan> plan_of(const Case& c, const Backend& backend, const ForcedVariants& forced = {});

/// That plan on `backend`, its tables and constants written. States and activations are filled with
/// kNoise, so that what a kernel should have written and did not reaches the result. Fails the
/// running test and gives null when the device fails.
std::unique_ptr<Program> start(const Case& c, Backend& backend, Plan plan);

/// NaN as one f32 and as two f16.
inline constexpr uint32_t kNoise = 0x7fc07fc0;

/// Runs the case on `backend`, every step submitted before the first is waited for; see start().
Run run(const Case& c, Backend& backend, Plan plan);
/// With the kernels that are chosen for it; fails the running test where there are none.
Run run(const Case& c, Backend& backend);

// The same with several sequences at once: the case's tokens are divided among kSequences of them,
// in another order every step, whose slots are some of the kBatchSlots of the program.
inline constexpr uint32_t kSequences = 3, kBatchSlots = 4;
inline constexpr uint32_t kIndices[kSequences] = {2, 0, 3};

/// A sequence's part of a step, in the order of the slots.
struct Part {
  uint32_t sequence = 0, count = 0;
};
std::vector<Part> parts_of(const Case& c, size_t step);

/// Steps of one token decode: each of its rows is another sequence's.
Result<Plan> batch_plan_of(const Case& c, const Backend& backend,
                           const ForcedVariants& forced = {});
/// Every step of all sequences.
Run run_batch(const Case& c, Backend& backend, Plan plan);
/// Runs the part of one sequence, in a program for one; steps without any are left out.
Run run_alone(const Case& c, Backend& backend, uint32_t sequence);

/// Fails the running test where `actual` is not within the case's tolerance of `expected`.
void expect_close(const Case& c, const Run& expected, const Run& actual);

}  // namespace tokamak::parity
