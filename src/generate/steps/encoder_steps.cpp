#include "generate/steps/encoder_steps.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/input_names.h"
#include "generate/pages/page_tables.h"
#include "generate/steps/call_errors.h"

namespace tokamak {
namespace {

/// Steps that may be unfinished when the next is submitted.
constexpr uint32_t kStepsAhead = 2;

/// Callbacks hold it, too: they may come when nobody waits any more.
struct Arrived {
  std::vector<std::optional<std::vector<float>>> rows;
  std::optional<Error> error;
};

/// The rows that the last step of the phase pools.
const Operand& pooled_rows(const Phase& phase) {
  return phase.steps.back().inputs.front();
}

class EncoderRun {
 public:
  EncoderRun(Program& program, std::span<const EncoderInput> inputs, const EncoderRows& rows)
      : program_(program), inputs_(inputs), rows_(rows), tables_(page_tables(program.plan())) {
    arrived_->rows.resize(inputs.size());
    const Plan& plan = program.plan();
    for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
      const Buffer& buffer = plan.buffers[i];
      if (buffer.use == BufferUse::kInput && buffer.tensor.name == kTokenTypes)
        types_ = BufferId(i);
    }
  }

  /// Everything that has not arrived yet.
  Result<void> submit_all(const std::function<bool()>& cancelled) {
    arrived_->error.reset();
    std::vector<size_t> group;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (arrived_->rows[i]) continue;
      if (!group.empty() && !fits(group, i)) TOK_TRY(submit(std::exchange(group, {}), cancelled));
      group.push_back(i);
    }
    if (!group.empty()) TOK_TRY(submit(group, cancelled));
    TOK_TRY(program_.wait());
    if (arrived_->error) return Failure(*arrived_->error);
    return {};
  }

  std::vector<std::vector<float>> take() {
    std::vector<std::vector<float>> rows;
    for (auto& row : arrived_->rows) rows.push_back(*std::move(row));
    return rows;
  }

 private:
  bool fits(const std::vector<size_t>& group, size_t next) const {
    const Plan& plan = program_.plan();
    size_t rows = inputs_[next].ids.size();
    for (const size_t i : group) rows += inputs_[i].ids.size();
    if (rows > plan.chunk()) return false;
    const Phase& phase = plan.phases[plan.phase_for(rows)];
    return group.size() < std::min(max_slots(plan, phase), max_outputs(plan, phase));
  }

  Result<void> submit(const std::vector<size_t>& group, const std::function<bool()>& cancelled) {
    TOK_TRY(write_pages(group));
    const size_t chunk = program_.plan().chunk(), most = inputs_[group.front()].ids.size();
    for (size_t first = 0; first < most; first += chunk) {
      if (cancelled && cancelled()) return call_was_cancelled();
      TOK_TRY(submit_step(group, first, first + chunk >= most));
      TOK_TRY(program_.limit_batches(kStepsAhead));
      TOK_TRY(program_.poll());
    }
    return {};
  }

  /// Each has the pages after those of the one before it.
  Result<void> write_pages(const std::vector<size_t>& group) {
    for (const PageTable& table : tables_) {
      uint32_t used = 0;
      for (uint32_t slot = 0; slot < group.size(); ++slot) {
        std::vector<uint32_t> pages = equal_part(table, slot);
        if (table.ring == 0) {
          pages.resize(ceil_div(inputs_[group[slot]].ids.size(), size_t{kPageTokens}));
          for (uint32_t& page : pages) page = used++;
          TOK_CHECK(used <= table.pool);
        }
        TOK_TRY(program_.write_table(table.buffer, pages, uint64_t{slot} * table.pages));
      }
    }
    return {};
  }

  /// The tokens of the group from `first` on, as many as a step takes of the only one.
  Result<void> submit_step(const std::vector<size_t>& group, size_t first, bool is_last) {
    const Plan& plan = program_.plan();
    std::vector<Slot> slots;
    std::vector<uint32_t> ids, types;
    for (const size_t i : group) {
      const EncoderInput& input = inputs_[i];
      const size_t count = std::min<size_t>(input.ids.size() - first, plan.chunk());
      slots.push_back({.count = uint32_t(count),
                       .position = uint32_t(first),
                       .length = uint32_t(input.ids.size()),
                       .index = uint32_t(slots.size())});
      const auto part = input.ids.subspan(first, count);
      ids.insert(ids.end(), part.begin(), part.end());
      if (input.types.empty()) {
        types.resize(ids.size());
      } else {
        const auto own = input.types.subspan(first, count);
        types.insert(types.end(), own.begin(), own.end());
      }
    }
    StepRequest request{.phase = plan.phase_at(plan.phase_for(ids.size()), uint32_t(first)),
                        .slots = std::move(slots),
                        .tokens = ids,
                        .done = {}};
    InputWrite write;
    if (types_) {
      write = {.buffer = *types_, .bytes = std::as_bytes(std::span(types))};
      request.inputs = {&write, 1};
    }
    if (is_last && rows_) {
      TOK_CHECK(first == 0);
      request.result = &pooled_rows(plan.phases[request.phase]);
      std::vector<size_t> counts;
      for (const Slot& slot : request.slots) counts.push_back(slot.count);
      request.done = [own = arrived_, group, counts, rows = rows_,
                      of_token = ids.size()](Result<std::span<const float>> result) {
        if (!result) {
          own->error = std::move(result).error();
          return;
        }
        const size_t columns = result->size() / of_token;
        for (size_t i = 0, row = 0; i < group.size(); row += counts[i++]) {
          own->rows[group[i]] = rows(result->subspan(row * columns, counts[i] * columns));
        }
      };
    } else if (is_last) {
      request.done = [own = arrived_, group](Result<std::span<const float>> result) {
        if (!result) {
          own->error = std::move(result).error();
          return;
        }
        const size_t columns = result->size() / group.size();
        for (size_t i = 0; i < group.size(); ++i) {
          const auto row = result->subspan(i * columns, columns);
          own->rows[group[i]].emplace(row.begin(), row.end());
        }
      };
    }
    return program_.submit(request);
  }

  Program& program_;
  std::span<const EncoderInput> inputs_;
  const EncoderRows& rows_;
  std::vector<PageTable> tables_;
  std::optional<BufferId> types_;
  std::shared_ptr<Arrived> arrived_ = std::make_shared<Arrived>();
};

Result<void> check(const EncoderInput& input, uint32_t vocab) {
  if (input.ids.empty()) return invalid_input("There are no tokens to run the model on.");
  TOK_CHECK(input.types.empty() || input.types.size() == input.ids.size());
  for (const uint32_t id : input.ids) {
    if (id < vocab) continue;
    return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", id, vocab);
  }
  return {};
}

}  // namespace

bool has_encoder_rows(const Plan& plan) {
  return std::ranges::all_of(plan.phases, [](const Phase& phase) {
    const Step& last = phase.steps.back();
    const bool pools =
        std::holds_alternative<FirstRow>(last.op) || std::holds_alternative<MeanRows>(last.op);
    const Operand& rows = last.inputs.front();
    return pools && rows.dtype == DType::kF32 && rows.shape[0] == kTokens;
  });
}

Result<std::vector<std::vector<float>>> run_encoder(Program& program, uint32_t vocab,
                                                    std::span<const EncoderInput> inputs,
                                                    const std::function<bool()>& cancelled,
                                                    const EncoderRows& rows) {
  TOK_CHECK(!rows || has_encoder_rows(program.plan()));
  for (const EncoderInput& input : inputs) TOK_TRY(check(input, vocab));
  program.begin_sequence();
  EncoderRun run(program, inputs, rows);
  Result<void> status = run.submit_all(cancelled);
  for (uint32_t losses = 1; !status && status.error().code == ErrorCode::kDeviceLost; ++losses) {
    if (losses == kMaxLosses) {
      return given_up(status.error(), losses, "this call is");
    }
    TOK_TRY(program.restore(status.error()));
    status = run.submit_all(cancelled);
  }
  TOK_TRY(status);
  return run.take();
}

}  // namespace tokamak
