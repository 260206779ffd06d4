// A program for the tests of this folder that chooses tokens without a model.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>

#include "generate/session.h"

namespace tokamak {

/// Chooses tokens as a device does that runs ahead: token id + 1 follows id. The list after each
/// is one pair, the token, and a sum, below 0 where the list is not enough; every step
/// counts. A recurrent one's state is the text of the tokens that were fed.
class FakeSampler : public Program {
 public:
  explicit FakeSampler(bool is_recurrent = false) {
    if (is_recurrent) {
      const TensorDesc state = {.name = "state", .shape = {8}};
      plan_.buffers = {{BufferUse::kState, kStateBytes, state},
                       {BufferUse::kCopy, kMinCheckpoints * kStateBytes, state}};
    }
    const auto result = [](Shape shape) {
      return Operand{BufferId(0), DType::kF32, std::move(shape)};
    };
    Phase plain{.name = "decode", .max_tokens = 1, .kind = PhaseKind::kDecode};
    plain.result.shape = {1, kLogits};
    Phase listing{.name = "sampled", .max_tokens = 1, .kind = PhaseKind::kSampled};
    listing.steps = {{.op = TopKTokens{}, .inputs = {plain.result}, .outputs = {result({1, 3})}},
                     {.op = SampleToken{},
                      .outputs = {result({kLists, 4}), {kOccurred, DType::kU32, {kLogits / 32}}}}};
    listing.result.shape = {kLists, 4};
    plan_.phases = {plain, listing};
  }
  /// From that position on another phase takes the place of `sampled`.
  void add_long_context(uint32_t position) {
    plan_.phases.push_back(plan_.phases[1]);
    plan_.phases.back().from_position = position;
  }
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values, uint64_t) override {
    EXPECT_EQ(buffer, kOccurred);
    occurred.assign(values.begin(), values.end());
    return {};
  }
  Result<void> submit(const StepRequest& request) override {
    if (losses > 0) {
      --losses;
      return fail(ErrorCode::kDeviceLost, "The device is lost.");
    }
    if (request.done && failures > 0) {
      --failures;
      return fail(ErrorCode::kOutOfMemory, "There is no memory for the result.");
    }
    const auto place = [](BufferId buffer, uint64_t first) {
      return size_t(buffer) + size_t(first / kStateBytes);
    };
    for (const BufferCopy& copy : request.copies) {
      states_[place(copy.to, copy.to_first)] = states_[place(copy.from, copy.from_first)];
    }
    copies += request.copies.size();
    if (!request.continues) {
      slot_ = request.slots[0];
      token_ = request.tokens[0];
    }
    for (uint32_t i = 0; i < request.repeat; ++i) {
      if (slot_.position == 0) states_[0].clear();
      states_[0] += fmt::format("{} ", token_);
      const char* long_context = request.phase == 2 ? "long " : "";
      log += fmt::format("{}{}@{} ", long_context, token_, slot_.position++);
      const float sum = insufficient.contains(++token_) ? -1.0f : 1.0f;
      const float row[] = {0.5f, wrong_listed.value_or(float(token_)), sum,
                           wrong_token.value_or(float(token_))};
      std::ranges::copy(row, rows_.begin() + std::ptrdiff_t(slot_.chosen++ % kLists * 4));
    }
    if (!request.done) return {};
    const bool reads_logits =
        request.phase == 0 || request.result == &plan_.phases[request.phase].steps[0].inputs[0];
    if (reads_logits) log += "logits ";
    const std::vector<float> logits(kLogits, float(token_));
    results_.emplace_back(request.done, reads_logits ? logits : rows_);
    return {};
  }
  Result<void> poll() override { return {}; }
  Result<void> wait_for_result() override {
    do {
      const auto [done, rows] = std::move(results_.front());
      results_.pop_front();
      done(std::span<const float>(rows));
    } while (arrive_together && !results_.empty());
    return {};
  }
  Result<void> wait() override {
    while (!results_.empty()) TOK_TRY(wait_for_result());
    return {};
  }
  Result<void> restore(const Error&) override {
    log += "restored ";
    states_ = {};
    return {};
  }
  const std::string& state() const { return states_[0]; }

  static constexpr uint32_t kLists = 4, kLogits = 256, kStateBytes = 32;
  static constexpr BufferId kOccurred = BufferId(100);
  std::vector<uint32_t> occurred;  // as last written
  std::string log;
  size_t copies = 0;
  bool arrive_together = false;     // all results that are on their way: groups of steps grow
  std::set<uint32_t> insufficient;  // tokens whose lists are not enough
  std::optional<float> wrong_listed, wrong_token;  // in place of every token's number
  uint32_t losses = 0, failures = 0;  // of the next submissions; the latter of those with a result
  Plan plan_;

 private:
  Slot slot_;
  uint32_t token_ = 0;
  std::vector<float> rows_ = std::vector<float>(4 * kLists);
  std::array<std::string, 1 + kMinCheckpoints> states_;  // its own, and those of the checkpoints
  std::deque<std::pair<decltype(StepRequest::done), std::vector<float>>> results_;  // on their way
};

/// What draw() gives until `wrong`, from which the sequence goes on otherwise.
inline std::vector<uint32_t> sample_until(Session& session, uint32_t id, uint32_t count,
                                          uint32_t wrong) {
  std::vector<uint32_t> drawn;
  uint64_t asked = 0;
  const auto start = [&] {
    SamplingStart own;
    own.rule.set_random(++asked);
    return own;
  };
  const auto status = session.sample(id, count, start, [&](auto list, uint32_t token) {
    EXPECT_EQ(list.size(), 3u);
    EXPECT_EQ(list[1], float(token));
    drawn.push_back(token);
    return token != wrong;
  });
  EXPECT_TRUE(status) << status.error().message;
  return drawn;
}

}  // namespace tokamak
