#include "speech/speech_steps.h"

#include <algorithm>

#include "backend/one_sequence.h"
#include "base/bits.h"
#include "base/check.h"

namespace tokamak {

Result<SpeechSteps> SpeechSteps::start(Program& program, const SpeechModel& model) {
  SpeechSteps steps(program, model);
  const Plan& plan = program.plan();
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind == PhaseKind::kSound) steps.stages_.push_back(i);
  }
  TOK_CHECK(steps.stages_.size() == model.stages.size());
  steps.ends_ = plan.named(kHeardEnds);
  steps.context_ = positions_of_pages(plan);
  program.begin_sequence();
  TOK_TRY(steps.outlive_device([&] { return write_all_pages(program); }));
  return steps;
}

Result<void> SpeechSteps::outlive_device(const std::function<Result<void>()>& attempt) {
  const auto bring_back = [&]() -> Result<void> {
    TOK_TRY(write_all_pages(*program_));
    if (!heard_.empty()) TOK_TRY(run_stages(nullptr));
    return ids_.empty() ? Result<void>() : run_text(ids_, 0);
  };
  return losses_.outlive(*program_, bring_back, attempt);
}

SpeechSteps::Ends SpeechSteps::ends_of_windows(size_t stage, uint32_t rows) const {
  Ends out;
  if (stage + 1 < stages_.size()) return out;
  for (const uint32_t ahead : model_->aheads) {
    std::vector<uint32_t>& ends = out.values.emplace_back();
    for (uint32_t row = 0; row < rows; ++row) ends.push_back(std::min(row + ahead, rows));
    out.writes.push_back({.buffer = program_->plan().named(ahead_input(ahead)),
                          .bytes = std::as_bytes(std::span(ends))});
  }
  return out;
}

Result<void> SpeechSteps::run_stages(std::vector<float>* encoded) {
  const Plan& plan = program_->plan();
  const BufferId first = plan.named(stage_input(0));
  const auto columns = size_t(plan.at(first).tensor.shape[1]);
  TOK_CHECK(heard_.size() % columns == 0 && heard_.size() * sizeof(float) <= plan.at(first).bytes);
  TOK_TRY(program_->write_table(first, words_of(heard_)));
  auto rows = uint32_t(heard_.size() / columns);
  for (size_t i = 0; i < stages_.size(); ++i) {
    StepRequest request{.phase = stages_[i], .slots = {}, .tokens = {}, .done = {}};
    BufferCopy copy;
    if (i > 0) {
      // The result of the stage before: the same bytes, in another buffer.
      const Operand& made = plan.phases[stages_[i - 1]].result;
      copy = {.from = made.buffer,
              .to = plan.named(stage_input(i)),
              .bytes = uint64_t{rows} * uint64_t(made.shape[1]) * sizeof(float)};
      request.copies = {&copy, 1};
    }
    rows = model_->stages[i].rows_of(rows);
    TOK_CHECK(rows > 0 && rows <= plan.phases[stages_[i]].max_tokens);
    request.slots = {{.count = rows, .length = rows}};
    const std::vector<uint32_t> no_tokens(rows);
    request.tokens = no_tokens;
    const auto [ends, inputs] = ends_of_windows(i, rows);
    request.inputs = inputs;
    if (encoded != nullptr && i + 1 == stages_.size()) {
      TOK_TRY(*encoded, run_and_read(*program_, std::move(request)));
    } else {
      TOK_TRY(program_->submit(request));
    }
  }
  frames_ = rows;
  return {};
}

Result<void> SpeechSteps::hear(std::vector<float> rows, std::vector<float>* encoded) {
  heard_ = std::move(rows);
  ids_.clear();
  return outlive_device([&] { return run_stages(encoded); });
}

Result<void> SpeechSteps::run_text(std::span<const uint32_t> ids, uint32_t position,
                                   const Meanwhile& meanwhile) {
  const std::vector<uint32_t> ends(ids.size(), frames_);
  InputWrite write = {.buffer = ends_, .bytes = {}};
  const auto inputs = [&](uint32_t first, uint32_t count) {
    write.bytes = std::as_bytes(std::span(ends).subspan(first, count));
    return std::span<const InputWrite>(&write, 1);
  };
  TOK_TRY(logits_, run_tokens(*program_, ids, position, inputs, meanwhile));
  return {};
}

Result<std::span<const float>> SpeechSteps::feed(std::span<const uint32_t> ids,
                                                 const Meanwhile& meanwhile) {
  TOK_CHECK(!ids.empty() && ids.size() <= room());
  TOK_TRY(outlive_device([&] { return run_text(ids, uint32_t(ids_.size()), meanwhile); }));
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  return logits_;
}

}  // namespace tokamak
