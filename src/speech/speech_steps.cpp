#include "speech/speech_steps.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "generate/phase_results.h"

namespace tokamak {
namespace {

/// The buffer of that name; every plan of a model that hears has it.
BufferId buffer_named(const Plan& plan, std::string_view name) {
  const auto found = std::ranges::find(
      plan.buffers, name, [](const Buffer& one) { return std::string_view(one.tensor.name); });
  TOK_CHECK(found != plan.buffers.end());
  return BufferId(found - plan.buffers.begin());
}

std::vector<uint32_t> words_of(std::span<const float> values) {
  std::vector<uint32_t> words(values.size());
  if (!words.empty()) std::memcpy(words.data(), values.data(), values.size_bytes());
  return words;
}

}  // namespace

Result<SpeechSteps> SpeechSteps::start(Program& program, const SpeechModel& model) {
  SpeechSteps steps(program, model);
  const Plan& plan = program.plan();
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind == PhaseKind::kSound) steps.stages_.push_back(i);
  }
  TOK_CHECK(steps.stages_.size() == model.stages.size());
  steps.ends_ = buffer_named(plan, kHeardEnds);
  steps.context_ = uint32_t(plan.at(buffer_named(plan, "pages")).tensor.shape[0]) * kPageTokens;
  program.begin_sequence();
  TOK_TRY(steps.outlive_device([&] { return steps.write_tables(); }));
  return steps;
}

Result<void> SpeechSteps::write_tables() {
  const Plan& plan = program_->plan();
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].use != BufferUse::kTable) continue;
    // One sequence has all pages, in order.
    std::vector<uint32_t> pages(size_t(plan.buffers[i].tensor.shape[0]));
    std::iota(pages.begin(), pages.end(), 0);
    TOK_TRY(program_->write_table(BufferId(i), pages));
  }
  return {};
}

Result<void> SpeechSteps::outlive_device(const std::function<Result<void>()>& attempt) {
  for (uint32_t losses = 0;;) {
    const Result<void> status = [&]() -> Result<void> {
      if (is_lost_) {
        TOK_TRY(write_tables());
        if (!heard_.empty()) TOK_TRY(run_stages(nullptr));
        if (!ids_.empty()) TOK_TRY(run_text(ids_, 0));
        is_lost_ = false;
      }
      return attempt();
    }();
    if (status || status.error().code != ErrorCode::kDeviceLost) return status;
    if (++losses == kMaxLosses) {
      return Failure(status.error().within(
          fmt::format("The device was lost {} times in a row, and this call is given up", losses)));
    }
    is_lost_ = true;
    TOK_TRY(program_->restore(status.error()));
  }
}

Result<void> SpeechSteps::submit(StepRequest request, std::vector<float>* result) {
  if (result == nullptr) return program_->submit(request);
  // The callback holds it, too: it may come when nobody waits any more.
  struct Arrived {
    std::vector<float> rows;
    std::optional<Error> error;
  };
  const auto arrived = std::make_shared<Arrived>();
  request.done = [arrived](Result<std::span<const float>> rows) {
    if (rows) {
      arrived->rows.assign(rows->begin(), rows->end());
    } else {
      arrived->error = std::move(rows).error();
    }
  };
  TOK_TRY(program_->submit(request));
  TOK_TRY(program_->wait());
  if (arrived->error) return Failure(*arrived->error);
  *result = std::move(arrived->rows);
  return {};
}

SpeechSteps::Ends SpeechSteps::ends_of_windows(size_t stage, uint32_t rows) const {
  Ends out;
  if (stage + 1 < stages_.size()) return out;
  for (const uint32_t ahead : model_->aheads) {
    std::vector<uint32_t>& ends = out.values.emplace_back();
    for (uint32_t row = 0; row < rows; ++row) ends.push_back(std::min(row + ahead, rows));
    out.writes.push_back({.buffer = buffer_named(program_->plan(), ahead_input(ahead)),
                          .bytes = std::as_bytes(std::span(ends))});
  }
  return out;
}

Result<void> SpeechSteps::run_stages(std::vector<float>* encoded) {
  const Plan& plan = program_->plan();
  const BufferId first = buffer_named(plan, stage_input(0));
  const auto columns = size_t(plan.at(first).tensor.shape[1]);
  TOK_CHECK(heard_.size() % columns == 0 && heard_.size() * sizeof(float) <= plan.at(first).bytes);
  TOK_TRY(program_->write_table(first, words_of(heard_)));
  auto rows = uint32_t(heard_.size() / columns);
  for (size_t i = 0; i < stages_.size(); ++i) {
    StepRequest request{.phase = stages_[i], .slots = {}, .tokens = {}, .done = {}};
    BufferCopy copy;
    if (i > 0) {
      // What the stage before has made: the same bytes, in another buffer.
      const Operand& made = plan.phases[stages_[i - 1]].result;
      copy = {.from = made.buffer,
              .to = buffer_named(plan, stage_input(i)),
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
    TOK_TRY(submit(std::move(request), i + 1 == stages_.size() ? encoded : nullptr));
  }
  frames_ = rows;
  return {};
}

Result<void> SpeechSteps::hear(std::vector<float> rows, std::vector<float>* encoded) {
  heard_ = std::move(rows);
  ids_.clear();
  return outlive_device([&] { return run_stages(encoded); });
}

Result<void> SpeechSteps::run_text(std::span<const uint32_t> ids, uint32_t position) {
  const Plan& plan = program_->plan();
  const auto length = uint32_t(position + ids.size());
  while (!ids.empty()) {
    const auto count = uint32_t(std::min<size_t>(ids.size(), plan.chunk()));
    const std::vector<uint32_t> ends(count, frames_);
    const InputWrite write = {.buffer = ends_, .bytes = std::as_bytes(std::span(ends))};
    TOK_TRY(submit({.phase = plan.phase_for(count),
                    .slots = {{.count = count, .position = position, .length = length}},
                    .tokens = ids.first(count),
                    .inputs = {&write, 1},
                    .done = {}},
                   count == ids.size() ? &logits_ : nullptr));
    ids = ids.subspan(count);
    position += count;
  }
  return {};
}

Result<std::span<const float>> SpeechSteps::feed(std::span<const uint32_t> ids) {
  TOK_CHECK(!ids.empty() && ids.size() <= room());
  TOK_TRY(outlive_device([&] { return run_text(ids, uint32_t(ids_.size())); }));
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  return logits_;
}

}  // namespace tokamak
