// A program for the tests of this folder that writes down what a session calls.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "generate/steps/session.h"

namespace tokamak {

using Ids = std::vector<uint32_t>;

inline constexpr uint32_t kVocab = 10;

/// Records the slots; the logits after a token are the token, the slot's length, and zeros.
class Recorder : public Program {
 public:
  explicit Recorder(uint32_t short_rows, bool all_logits = false) {
    Buffer angles{.use = BufferUse::kConstant};
    angles.tensor.recipe = RopeTable{{1.0f}, 1, short_rows, {0.5f}};
    plan_.buffers = {angles};
    Phase phase{.name = "chunk", .max_tokens = 4};
    phase.result.shape = {all_logits ? kTokens : 1, kVocab};
    plan_.phases = {phase};
  }
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId, std::span<const uint32_t> values, uint64_t) override {
    table.assign(values.begin(), values.end());
    return {};
  }
  Result<void> submit(const StepRequest& request) override {
    if (losses > 0) {
      --losses;
      return fail(ErrorCode::kDeviceLost, "The device is lost.");
    }
    most_in_flight = std::max(most_in_flight, ++in_flight);
    ++submitted;
    const Slot& slot = request.slots[0];
    log += fmt::format("{}+{}/{} ", slot.position, slot.count, slot.length);
    phases += plan_.phases[request.phase].name + " ";
    std::vector<float> rows;
    for (const uint32_t id : request.tokens) {
      rows.insert(rows.end(), {float(id), float(slot.length)});
      rows.resize(rows.size() + kVocab - 2);
    }
    if (plan_.phases[0].result.shape[0] != kTokens) rows.erase(rows.begin(), rows.end() - kVocab);
    if (!request.done) return {};
    if (failing_waits > 0) {
      late = request.done;
    } else {
      request.done(std::span<const float>(rows));
    }
    return {};
  }
  Result<void> poll() override { return {}; }
  Result<void> limit_batches(uint32_t most) override {
    in_flight = std::min(in_flight, most);
    return {};
  }
  Result<void> wait() override {
    in_flight = 0;
    if (failing_waits == 0) return {};
    --failing_waits;
    return fail(ErrorCode::kDevice, "Waiting fails.");
  }
  Result<void> restore(const Error&) override {
    log += "restored ";
    table.clear();
    return {};
  }

  std::string log, phases;
  uint32_t losses = 0;         // of the next submissions find the device lost
  uint32_t failing_waits = 0;  // the next ones; the result comes later, in `late`
  std::function<void(Result<std::span<const float>>)> late;
  uint32_t submitted = 0, in_flight = 0, most_in_flight = 0;  // the device takes its time
  std::vector<uint32_t> table;
  Plan plan_;
};

/// Feeds and gives the first two logits of each row.
inline std::vector<float> feed(Session& session, std::vector<uint32_t> ids) {
  auto logits = session.feed(ids);
  EXPECT_TRUE(logits) << logits.error().message;
  std::vector<float> first_two;
  for (size_t row = 0; logits && row < logits->size(); row += kVocab) {
    first_two.insert(first_two.end(), {(*logits)[row], (*logits)[row + 1]});
  }
  return first_two;
}

using Floats = std::vector<float>;

}  // namespace tokamak
