// The scheduler's choice between steps that run ahead and steps that verify, on a program and a
// clock that say what each costs.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "generate/schedule/scheduler.h"
#include "generate/speculate/draft_model.h"
#include "generate/steps/phase_results.h"

namespace tokamak {

using Ids = std::vector<uint32_t>;

namespace {

constexpr uint32_t kVocab = 64, kPrompt = 24, kContext = 4096;

/// Seconds: of a step that decodes, of one that verifies and for each of its rows, from the device
/// to the host, and of a token of a prompt.
struct Costs {
  double plain = 1e-3, verify = 1e-3, row = 0, way = 1e-5, read = 0;
};

/// When the device that all programs share has done what was submitted, and what time it is.
struct Timeline {
  double now = 0, free = 0;
};

/// A device that always goes on with the same text, and takes its time for it.
class Reciter : public Program {
 public:
  Reciter(Ids text, const Costs& costs, Timeline& time)
      : text_(std::move(text)), costs_(costs), time_(time) {
    const auto phase = [this](const char* name, uint32_t tokens, PhaseKind kind, Shape result) {
      plan_.phases.push_back({.name = name, .max_tokens = tokens, .kind = kind});
      plan_.phases.back().result.shape = std::move(result);
    };
    phase("prefill", 512, PhaseKind::kPrefill, {1, kVocab});
    phase("sampled", 1, PhaseKind::kSampled, {8, 4});
    phase("greedy", 1, PhaseKind::kGreedy, {64});
    phase("verify_16", 16, PhaseKind::kVerify, {kTokens, 3});
  }
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId, std::span<const uint32_t>, uint64_t) override { return {}; }
  Result<void> submit(const StepRequest& request) override {
    if (!request.continues) next_ = request.slots[0].position;
    const PhaseKind kind = plan_.phases[request.phase].kind;
    std::vector<float> values;
    if (kind == PhaseKind::kPrefill) {
      next_ += request.slots[0].count;
      time_.free = std::max(time_.free, time_.now) + request.slots[0].count * costs_.read;
      values.resize(kVocab);
      values[text_[next_]] = 1;
    } else {
      const bool verifies = kind == PhaseKind::kVerify;
      const uint32_t rows = verifies ? request.slots[0].count : request.repeat;
      for (uint32_t i = 0; i < rows; ++i) {
        const auto id = float(text_[++next_]);
        if (verifies) {
          values.insert(values.end(), {1, id, 1});
        } else {
          values.push_back(id);
        }
      }
      time_.free = std::max(time_.free, time_.now) +
                   (verifies ? costs_.verify + rows * costs_.row : rows * costs_.plain);
    }
    if (!request.done) return {};
    const double arrives = std::max(time_.free, time_.now) + costs_.way;
    in_flight_.push_back({arrives, request.done, std::move(values)});
    return {};
  }
  Result<void> poll() override { return {}; }
  Result<void> wait_for_result() override {
    const Arriving step = std::move(in_flight_.front());
    in_flight_.pop_front();
    time_.now = std::max(time_.now, step.arrives);
    step.done(std::span<const float>(step.values));
    return {};
  }
  Result<void> wait() override { return {}; }

 private:
  struct Arriving {
    double arrives;
    decltype(StepRequest::done) done;
    std::vector<float> values;
  };

  Ids text_;
  Costs costs_;
  Timeline& time_;
  Plan plan_;
  uint32_t next_ = 0;
  std::deque<Arriving> in_flight_;
};

/// A draft model: what it thinks the text is, and seconds of a token that it chooses or reads.
struct Drafting {
  Ids text = {};
  double step = 1e-4, read = 0;
};

struct Recited {
  double seconds = 0;
  Ids ids;
  SchedulerStats stats;
};

Recited recite(const Ids& text, const Costs& costs, const SpeculationOptions& speculation,
               const Drafting& drafting = {}) {
  Recited out;
  Timeline time;
  Reciter program(text, costs, time);
  Costs own = costs;
  own.plain = drafting.step;
  own.read = drafting.read;
  Reciter other(drafting.text, own, time);
  const auto drafts = *DraftModel::make(other, kContext, kVocab);
  auto scheduler = Scheduler::make(program, nullptr,
                                   {.context = kContext,
                                    .vocab = kVocab,
                                    .speculation = speculation,
                                    .drafts = speculation.asks_model ? drafts.get() : nullptr},
                                   [&time] { return time.now; });
  EXPECT_TRUE(scheduler);
  Request request;
  request.prompt.assign(text.begin(), text.begin() + kPrompt);
  request.params.sampling.temperature = 0;
  request.params.max_tokens = uint32_t(text.size()) - kPrompt - 100;
  request.done = [&](Result<Generation> done) { out.ids = done->ids; };
  EXPECT_TRUE((*scheduler)->add(std::move(request)));
  EXPECT_TRUE((*scheduler)->run());
  EXPECT_TRUE(std::ranges::equal(out.ids, std::span(text).subspan(kPrompt, out.ids.size())));
  out.seconds = time.now;
  out.stats = (*scheduler)->stats();
  return out;
}

/// The time with guesses where they pay, as a part of that without.
double with_guesses(const Ids& text, const Costs& costs) {
  const Recited plain = recite(text, costs, {});
  const Recited guessing = recite(text, costs, {.draft_tokens = 15, .adapts = true});
  EXPECT_EQ(plain.ids, guessing.ids);
  EXPECT_EQ(plain.stats.drafts, 0u);
  return guessing.seconds / plain.seconds;
}

/// A text that says the same again and again.
Ids refrain(uint32_t period) {
  Ids text;
  for (uint32_t i = 0; i < 3000; ++i) text.push_back(i % period);
  return text;
}

/// A text of few words in no order: every end has been there before, and says nothing.
Ids babble() {
  std::mt19937 random(7);
  Ids text;
  for (uint32_t i = 0; i < 3000; ++i) text.push_back(uint32_t(random() % 5));
  return text;
}

/// Quotes of 40 tokens, and as many that are new.
Ids quotes() {
  std::mt19937 random(9);
  Ids text;
  while (text.size() < 3000) {
    for (uint32_t i = 0; i < 40; ++i) text.push_back(10 + i);
    for (uint32_t i = 0; i < 40; ++i) text.push_back(uint32_t(random() % kVocab));
  }
  return text;
}

TEST(SchedulerSpeculation, GivesTheSameTokensWhateverIsGuessed) {
  for (const Ids& text : {refrain(7), babble(), quotes()}) {
    for (const uint32_t tokens : {1u, 4u, 15u}) {
      const Recited guessing = recite(text, {}, {.draft_tokens = tokens, .adapts = false});
      EXPECT_EQ(guessing.ids.size(), text.size() - kPrompt - 100);
      EXPECT_GT(guessing.stats.drafted_tokens, 0u);
      EXPECT_LE(guessing.stats.accepted_tokens, guessing.stats.drafted_tokens);
      EXPECT_EQ(guessing.stats.decoded_tokens, guessing.ids.size());
    }
  }
}

TEST(SchedulerSpeculation, IsFasterWhereTextsRepeat) {
  EXPECT_LT(with_guesses(refrain(7), {.verify = 1.5e-3}), 0.2);
  EXPECT_LT(with_guesses(quotes(), {.verify = 1.5e-3}), 0.75);
}

TEST(SchedulerSpeculation, LosesNothingWhateverStepsCost) {
  double most = 0;
  for (const Ids& text : {refrain(7), babble(), quotes()}) {
    for (const double plain : {2e-4, 5e-3}) {
      for (const double verify : {1.0, 1.5, 4.0}) {
        for (const double row : {0.0, 0.1, 1.0}) {  // 1: as on a processor
          for (const double way : {1e-5, 4e-3}) {   // 4 ms: as in a browser
            const double share = with_guesses(
                text, {.plain = plain, .verify = verify * plain, .row = row * plain, .way = way});
            EXPECT_LT(share, 1.03)
                << text[24] << " " << plain << " " << verify << " " << row << " " << way;
            most = std::max(most, share);
          }
        }
      }
    }
  }
  EXPECT_GT(most, 1.0) << "trying costs something";
}

/// The text as a draft model would have it that is right about each token so often.
Ids misheard(const Ids& text, double rate) {
  std::mt19937 random(3);
  Ids own;
  for (const uint32_t id : text) {
    const bool is_right = double(random() % 1000) < 1000 * rate;
    own.push_back(is_right ? id : (id + 1) % kVocab);
  }
  return own;
}

TEST(SchedulerSpeculation, OfADraftModelGivesTheSameTokensWhateverIsGuessed) {
  const Ids text = babble();
  for (const double rate : {0.0, 0.7, 1.0}) {
    for (const uint32_t tokens : {1u, 4u, 15u}) {
      const SpeculationOptions options = {.draft_tokens = tokens, .asks_model = true};
      const Recited guessing = recite(text, {}, options, {.text = misheard(text, rate)});
      EXPECT_EQ(guessing.ids.size(), text.size() - kPrompt - 100);
      EXPECT_EQ(guessing.stats.decoded_tokens, guessing.ids.size());
      const auto drafted = double(guessing.stats.drafted_tokens);
      EXPECT_GT(drafted, 0);
      EXPECT_EQ(guessing.stats.accepted_tokens == 0, rate == 0);
      EXPECT_EQ(double(guessing.stats.accepted_tokens) == drafted, rate == 1);
    }
  }
}

/// The time with a draft model where it pays, as a part of that without.
double with_draft_model(const Ids& text, const Costs& costs, const Drafting& drafting) {
  const SpeculationOptions options = {.draft_tokens = 15, .adapts = true, .asks_model = true};
  return recite(text, costs, options, drafting).seconds / recite(text, costs, {}).seconds;
}

TEST(SchedulerSpeculation, OfADraftModelIsFasterWhereItIsRight) {
  const Ids text = babble();
  const Costs costs = {.verify = 1.3e-3};
  EXPECT_LT(with_draft_model(text, costs, {.text = text}), 0.3);
  EXPECT_LT(with_draft_model(text, costs, {.text = misheard(text, 0.8)}), 0.7);
}

TEST(SchedulerSpeculation, OfADraftModelLosesNothingWhateverItCosts) {
  const Ids text = babble();
  double most = 0;
  for (const double rate : {0.0, 0.4, 0.8, 1.0}) {
    const Ids own = misheard(text, rate);
    for (const double verify : {1.0, 1.5, 4.0}) {
      for (const double row : {0.0, 1.0}) {
        for (const double step : {0.05, 0.3, 1.0, 3.0}) {
          for (const double way : {1e-5, 4e-3}) {
            const double share =
                with_draft_model(text, {.verify = verify * 1e-3, .row = row * 1e-3, .way = way},
                                 {.text = own, .step = step * 1e-3});
            EXPECT_LT(share, 1.03)
                << rate << " " << verify << " " << row << " " << step << " " << way;
            most = std::max(most, share);
          }
        }
      }
    }
  }
  EXPECT_GT(most, 1.0) << "trying costs something";
}

}  // namespace
}  // namespace tokamak
