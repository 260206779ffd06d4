// A program for the tests of this folder that chooses tokens without a model.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "generate/schedule/scheduler.h"

namespace tokamak {

using Ids = std::vector<uint32_t>;

/// Token id + 1 follows id. The list after each is one pair, the token, and a sum, below 0 where
/// the list is not enough. A recurrent one's state is the text of the tokens that were fed.
class FakeProgram : public Program {
 public:
  explicit FakeProgram(bool is_recurrent = false) {
    if (is_recurrent) {
      const TensorDesc state = {
          .name = "state", .shape = {8}, .state = StateSpec{StateKind::kRecurrent}};
      plan_.buffers = {{BufferUse::kState, kStateBytes, state},
                       {BufferUse::kCopy, kMinCheckpoints * kStateBytes, state}};
    }
    const auto result = [](Shape shape) {
      return Operand{BufferId(0), DType::kF32, std::move(shape)};
    };
    Phase prefill{.name = "prefill", .max_tokens = kChunk};
    prefill.result.shape = {1, kVocab};
    Phase decode = prefill;
    decode.name = "decode";
    decode.max_tokens = 1;
    decode.kind = PhaseKind::kDecode;
    Phase sampled{.name = "sampled", .max_tokens = 1, .kind = PhaseKind::kSampled};
    sampled.steps = {{.op = TopKTokens{}, .inputs = {decode.result}, .outputs = {result({1, 3})}},
                     {.op = SampleToken{},
                      .outputs = {result({kKept, 4}), {kOccurred, DType::kU32, {kVocab / 32}}}}};
    sampled.result.shape = {kKept, 4};
    Phase greedy{.name = "greedy", .max_tokens = 1, .kind = PhaseKind::kGreedy};
    greedy.result.shape = {kKept};
    plan_.phases = {prefill, decode, sampled, greedy};
  }
  /// From that position on another phase takes the place of `sampled`.
  void add_long_context(uint32_t position) {
    Phase own = plan_.phases[2];
    own.name = "sampled_long";
    own.from_position = position;
    plan_.phases.insert(plan_.phases.begin() + 3, own);
  }
  /// Sequences of more tokens than that are turned by the other part of the table.
  void add_long_rope(uint32_t short_rows) {
    Buffer angles{.use = BufferUse::kConstant};
    angles.tensor.recipe = RopeTable{{1.0f}, 1, short_rows, {0.5f}};
    plan_.buffers.push_back(angles);
  }
  /// A layer whose cache has that many cells; with a window it sees only as many positions.
  void add_cache(int64_t cells, uint32_t window) {
    Buffer cache{.use = BufferUse::kState}, table{.use = BufferUse::kTable};
    cache.tensor.shape = {cells, 2, 1, 2};
    table.tensor.shape = {1024 / kPageTokens};
    cache.tensor.window = table.tensor.window = window;
    cache.tensor.state = StateSpec{window == 0 ? StateKind::kPages : StateKind::kRing};
    plan_.buffers.push_back(cache);
    plan_.buffers.push_back(table);
  }
  /// Adds rows of images, of one number each, and a phase for steps that read of them.
  void add_images(uint32_t capacity) {
    Buffer rows{.use = BufferUse::kRows};
    rows.tensor.shape = {capacity, 1};
    plan_.buffers.push_back(rows);
    Phase images = plan_.phases[0];
    images.name = "images";
    images.kind = PhaseKind::kImages;
    plan_.phases.insert(plan_.phases.begin() + 1, images);
  }
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values, uint64_t) override {
    if (buffer == kOccurred) occurred.emplace_back(values.begin(), values.end());
    return {};
  }

  Result<void> submit(const StepRequest& request) override {
    ++submitted;
    if (submitted == loses_at || losses > 0) {
      losses -= std::min(losses, 1u);
      return fail(ErrorCode::kDeviceLost, "The device is lost.");
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
    const Phase& phase = plan_.phases[request.phase];
    const std::string name = phase.from_position > 0 ? "long " : "";
    if (request.repeat > 0 && !chooses(phase.kind)) {
      log += fmt::format("{}@{}/{} ", fmt::join(request.tokens, "+"), slot_.position, slot_.length);
      for (const uint32_t id : request.tokens) feed(id);
      next_ = request.tokens.back() + 1;
    } else {
      for (uint32_t i = 0; i < request.repeat; ++i) {
        log += fmt::format("{}{}@{} ", name, token_, slot_.position);
        feed(token_);
        choose();
      }
    }
    if (!request.done) return {};
    std::vector<float> values;
    if (!chooses(phase.kind) || request.result != nullptr) {
      if (chooses(phase.kind)) {
        EXPECT_EQ(request.result, &phase.steps[0].inputs[0]);
        log += "logits ";
      }
      values.assign(kVocab, has_no_numbers ? NAN : -30.0f);
      if (!has_no_numbers) values[next_] = 0;
    } else {
      values = phase.kind == PhaseKind::kSampled ? lists_ : chosen_;
    }
    values = {values.begin() + std::ptrdiff_t(request.result_first / 4),
              values.begin() + std::ptrdiff_t((request.result_first + request.result_bytes) / 4)};
    results_.emplace_back(request.done, std::move(values));
    return {};
  }
  Result<void> poll() override { return {}; }
  Result<void> wait_for_result() override {
    if (results_.empty()) return {};
    const auto [done, values] = std::move(results_.front());
    results_.pop_front();
    done(std::span<const float>(values));
    return {};
  }
  Result<void> wait() override {
    while (!results_.empty()) TOK_TRY(wait_for_result());
    return {};
  }
  Result<void> restore(const Error&) override {
    log += "restored ";
    states_ = {};
    results_.clear();
    return {};
  }
  const std::string& state() const { return states_[0]; }
  /// The ids that the cache holds at the first positions.
  Ids cached(uint32_t count) const {
    Ids ids;
    for (uint32_t i = 0; i < count; ++i) ids.push_back(cells_.at(i));
    return ids;
  }

  static constexpr BufferId kOccurred = BufferId(100);
  static constexpr uint32_t kChunk = 4, kKept = 16, kVocab = 256, kStateBytes = 32;
  std::string log;
  std::vector<Ids> occurred;  // each time that it was told
  size_t copies = 0;
  std::set<uint32_t> insufficient;  // tokens whose lists are not enough
  std::set<uint32_t> misguessed;    // tokens in whose place the device goes on with others
  std::optional<float> wrong_listed, wrong_token;  // in place of every token's number
  bool has_no_numbers = false;                     // logits are NaN
  uint32_t submitted = 0, loses_at = 0;            // the device, at that submission
  uint32_t losses = 0;                             // of the next submissions, at each
  Plan plan_;

 private:
  void feed(uint32_t id) {
    if (slot_.position == 0) states_[0].clear();
    states_[0] += fmt::format("{} ", id);
    cells_[slot_.position++] = id;
  }
  void choose() {
    next_ = token_ + 1;
    token_ = misguessed.contains(next_) ? next_ + 100 : next_;
    const float sum = insufficient.contains(next_) ? -1.0f : 1.0f;
    const float row[] = {0.5f, wrong_listed.value_or(float(next_)), sum,
                         wrong_token.value_or(float(token_))};
    const uint32_t place = slot_.chosen++ % kKept;
    std::ranges::copy(row, lists_.begin() + std::ptrdiff_t(place * 4));
    chosen_[place] = row[3];
  }

  Slot slot_;
  uint32_t token_ = 0;  // that the device goes on with
  uint32_t next_ = 0;   // the most probable one
  std::map<uint32_t, uint32_t> cells_;
  std::vector<float> lists_ = std::vector<float>(size_t{4} * kKept);
  std::vector<float> chosen_ = std::vector<float>(kKept);
  std::array<std::string, 1 + kMinCheckpoints> states_;  // its own, and those of the checkpoints
  std::deque<std::pair<decltype(StepRequest::done), std::vector<float>>> results_;  // on their way
};

}  // namespace tokamak
