#include "plan/layer_cut.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"

namespace tokamak {
namespace {

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// The first and last step of a phase that touch a buffer.
struct StepRange {
  size_t first = kNowhere, last = 0;

  bool is_empty() const { return first == kNowhere; }
  void add(size_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
};

std::vector<StepRange> touched_ranges(const Plan& plan, const Phase& phase) {
  std::vector<StepRange> ranges(plan.buffers.size());
  for (size_t s = 0; s < phase.steps.size(); ++s) {
    for (const Operand& in : phase.steps[s].inputs) ranges[uint32_t(in.buffer)].add(s);
    for (const Operand& out : phase.steps[s].outputs) ranges[uint32_t(out.buffer)].add(s);
  }
  return ranges;
}

/// The activations that later steps or the host read.
using Needed = std::map<BufferId, Operand>;

/// The change to what is needed from after a step to before it.
void go_back(const Plan& plan, const Step& step, Needed& needed) {
  const auto need = [&](const Operand& operand) {
    if (plan.at(operand.buffer).use == BufferUse::kActivation) {
      needed.insert_or_assign(operand.buffer, operand);
    }
  };
  // Some rows of the outputs are there already, or all of the first one to be added to.
  const bool is_later_part = step.cut.first > 0;
  for (const Operand& out : step.outputs) {
    const bool is_changed = &out == &step.outputs[0] && added_to(step.op).has_value();
    if (is_later_part || is_changed) {
      need(out);
    } else {
      needed.erase(out.buffer);
    }
  }
  for (const Operand& in : step.inputs) need(in);
}

/// The values needed before the steps from `first` to `last`, where `needed` are after them.
Needed needed_before(const Plan& plan, const Phase& phase, size_t first, size_t last,
                     Needed needed) {
  for (size_t s = last; s > first; --s) go_back(plan, phase.steps[s - 1], needed);
  return needed;
}

Needed result_of(const Plan& plan, const Phase& phase) {
  Needed needed;
  if (plan.at(phase.result.buffer).use == BufferUse::kActivation) {
    needed.emplace(phase.result.buffer, phase.result);
  }
  return needed;
}

uint64_t most_bytes(const Plan& plan, const Phase& phase, const Operand& operand) {
  return byte_count(operand.dtype, operand.shape, phase.max_tokens, max_outputs(plan, phase));
}

/// For each step of a phase, the bytes that a cut in front of it carries.
std::vector<uint64_t> bytes_in_front(const Plan& plan, const Phase& phase) {
  std::vector<uint64_t> bytes(phase.steps.size() + 1);
  Needed needed = result_of(plan, phase);
  for (size_t s = phase.steps.size(); s > 0; --s) {
    go_back(plan, phase.steps[s - 1], needed);
    for (const auto& [buffer, operand] : needed) bytes[s - 1] += most_bytes(plan, phase, operand);
  }
  return bytes;
}

/// The places of cuts, found phase after phase.
class Layers {
 public:
  explicit Layers(const Plan& plan) : plan_(plan) {
    for (const Phase& phase : plan.phases) {
      ranges_.push_back(touched_ranges(plan, phase));
      in_front_.push_back(bytes_in_front(plan, phase));
    }
  }

  std::vector<LayerStart> find() const {
    std::vector<LayerStart> layers = {LayerStart(plan_.phases.size())};
    const std::vector<size_t> states = states_in_order();
    for (size_t count = 1; count < states.size(); ++count) {
      const std::span all(states);
      if (auto start = cut_between(all.first(count), all.subspan(count))) {
        layers.push_back(*std::move(start));
      }
    }
    return layers;
  }

 private:
  /// By the first phase's steps; none where that does without some of them.
  std::vector<size_t> states_in_order() const {
    std::vector<size_t> states;
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].use == BufferUse::kState) states.push_back(i);
    }
    if (plan_.phases.empty()) return {};
    const std::vector<StepRange>& ranges = ranges_.front();
    if (std::ranges::any_of(states, [&](size_t i) { return ranges[i].is_empty(); })) return {};
    std::ranges::stable_sort(states, {}, [&](size_t i) { return ranges[i].first; });
    return states;
  }

  std::optional<LayerStart> cut_between(std::span<const size_t> before,
                                        std::span<const size_t> after) const {
    LayerStart start;
    for (size_t phase = 0; phase < plan_.phases.size(); ++phase) {
      StepRange left, right;
      for (const size_t state : before) add(ranges_[phase][state], left);
      for (const size_t state : after) add(ranges_[phase][state], right);
      if (left.is_empty() || right.is_empty() || left.last >= right.first) return std::nullopt;
      start.push_back(best_place(phase, left.last + 1, right.first, start));
    }
    return start;
  }

  static void add(const StepRange& one, StepRange& all) {
    if (one.is_empty()) return;
    all.add(one.first);
    all.add(one.last);
  }

  /// The place where the fewest bytes of weights are on another side than in the first phase, and
  /// so on two devices; of those the one that carries the fewest; of those the last.
  size_t best_place(size_t phase, size_t first, size_t last, const LayerStart& start) const {
    size_t best = first;
    std::pair<uint64_t, uint64_t> least = {UINT64_MAX, UINT64_MAX};
    for (size_t place = first; place <= last; ++place) {
      const uint64_t twice =
          start.empty() ? 0 : bytes_elsewhere(phase, first, last, place, start.front());
      const std::pair cost = {twice, in_front_[phase][place]};
      if (cost > least) continue;
      best = place;
      least = cost;
    }
    return best;
  }

  /// The constants of the steps from `first` to `last` that a cut at `place` has on one side, and
  /// the first phase, cut at `reference`, only on the other.
  uint64_t bytes_elsewhere(size_t phase, size_t first, size_t last, size_t place,
                           size_t reference) const {
    uint64_t bytes = 0;
    for (size_t s = first; s < last; ++s) {
      for (const Operand& in : plan_.phases[phase].steps[s].inputs) {
        if (plan_.at(in.buffer).use != BufferUse::kConstant) continue;
        const StepRange& range = ranges_.front()[uint32_t(in.buffer)];
        if (range.is_empty()) continue;
        const bool is_elsewhere = s < place ? range.first >= reference : range.last < reference;
        bytes += is_elsewhere ? plan_.at(in.buffer).bytes : 0;
      }
    }
    return bytes;
  }

  const Plan& plan_;
  std::vector<std::vector<StepRange>> ranges_;   // [phase][buffer]
  std::vector<std::vector<uint64_t>> in_front_;  // [phase][step]
};

/// The steps of layers in a phase; the last layer's go on to the end.
StepRange steps_of(const Plan& plan, std::span<const LayerStart> layers, size_t phase, size_t first,
                   size_t count) {
  const size_t next = first + count;
  return {layers[first][phase],
          next < layers.size() ? layers[next][phase] : plan.phases[phase].steps.size()};
}

/// The buffers that those layers touch, with the copies of their states and the batch.
std::set<BufferId> buffers_of(const Plan& plan, std::span<const LayerStart> layers, size_t first,
                              size_t count) {
  std::set<BufferId> buffers = {plan.batch};
  for (size_t p = 0; p < plan.phases.size(); ++p) {
    const auto [begin, end] = steps_of(plan, layers, p, first, count);
    for (size_t s = begin; s < end; ++s) {
      for (const Operand& in : plan.phases[p].steps[s].inputs) buffers.insert(in.buffer);
      for (const Operand& out : plan.phases[p].steps[s].outputs) buffers.insert(out.buffer);
    }
  }
  std::set<std::string_view> states;
  for (const BufferId id : buffers) {
    if (plan.at(id).use == BufferUse::kState) states.insert(plan.at(id).tensor.name);
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    const bool is_copy = buffer.use == BufferUse::kCopy && states.contains(buffer.tensor.name);
    if (is_copy) buffers.insert(BufferId(uint32_t(i)));
  }
  return buffers;
}

/// A stage in the making, with its numbers for buffers.
class StageCut {
 public:
  StageCut(const Plan& plan, const std::set<BufferId>& buffers) : plan_(plan) {
    stage_.own.resize(plan.buffers.size());
    for (const BufferId id : buffers) {
      stage_.own[uint32_t(id)] = BufferId(uint32_t(stage_.plan.buffers.size()));
      stage_.plan.buffers.push_back(plan.at(id));
    }
    stage_.plan.batch = number_of(plan.batch);
    stage_.plan.slots = plan.slots;
    stage_.plan.prompt_outputs = plan.prompt_outputs;
  }

  /// The steps of a phase from `begin` to `end`.
  void add_phase(const Phase& whole, const StepRange& steps) {
    const auto [begin, end] = steps;
    const bool is_last = end == whole.steps.size();
    Phase phase = whole;
    phase.steps.assign(whole.steps.begin() + std::ptrdiff_t(begin),
                       whole.steps.begin() + std::ptrdiff_t(end));
    std::map<BufferId, Operand> made;
    for (Step& step : phase.steps) {
      for (const Operand& out : step.outputs) made.insert_or_assign(out.buffer, out);
      for (Operand& operand : step.inputs) operand = numbered(operand);
      for (Operand& operand : step.outputs) operand = numbered(operand);
    }
    const Needed at_end = is_last ? result_of(plan_, whole) : Needed();
    std::vector<Carried>& takes = stage_.takes.emplace_back();
    for (const auto& [id, operand] : needed_before(plan_, whole, begin, end, at_end)) {
      takes.push_back({id, numbered(operand)});
    }
    std::vector<Carried>& gives = stage_.gives.emplace_back();
    if (is_last) {
      phase.result = numbered(whole.result);
    } else {
      const size_t all = whole.steps.size();
      for (const auto& [id, unused] :
           needed_before(plan_, whole, end, all, result_of(plan_, whole))) {
        if (const auto found = made.find(id); found != made.end()) {
          gives.push_back({id, numbered(found->second)});
        }
      }
      std::ranges::stable_sort(gives, std::greater(), [&](const Carried& one) {
        return most_bytes(plan_, whole, one.operand);
      });
      TOK_CHECK(!gives.empty());  // the logits are made of what the layers make
      phase.result = gives.front().operand;
    }
    stage_.plan.phases.push_back(std::move(phase));
  }

  Stage take() { return std::move(stage_); }

 private:
  BufferId number_of(BufferId buffer) const {
    const std::optional<BufferId> own = stage_.own[uint32_t(buffer)];
    TOK_CHECK(own.has_value());
    return *own;
  }
  Operand numbered(Operand operand) const {
    operand.buffer = number_of(operand.buffer);
    return operand;
  }

  const Plan& plan_;
  Stage stage_;
};

}  // namespace

std::vector<LayerStart> find_layers(const Plan& plan) {
  return Layers(plan).find();
}

std::string layers_text(const LayerShare& share) {
  if (share.count == 1) return fmt::format("layer {}", share.first + 1);
  return fmt::format("layers {} to {}", share.first + 1, share.first + share.count);
}

std::vector<LayerShare> share_layers(const Plan& plan, std::span<const LayerStart> layers,
                                     std::span<const uint64_t> rooms) {
  TOK_CHECK(layers.size() >= rooms.size() && !rooms.empty());
  const bool is_known = std::ranges::find(rooms, uint64_t{0}) == rooms.end();
  const size_t all = layers.size();
  std::vector<std::vector<uint64_t>> bytes(all, std::vector<uint64_t>(all + 1));
  std::vector<std::set<BufferId>> buffers(all);
  for (size_t layer = 0; layer < all; ++layer) buffers[layer] = buffers_of(plan, layers, layer, 1);
  for (size_t first = 0; first < all; ++first) {
    std::set<BufferId> own;
    uint64_t sum = 0;
    for (size_t last = first; last < all; ++last) {
      for (const BufferId id : buffers[last]) {
        if (own.insert(id).second && !plan.at(id).on_host) sum += plan.at(id).bytes;
      }
      bytes[first][last + 1] = sum;
    }
  }
  // How full the fullest of the first devices is, when they have that number of the layers, and how
  // many of those the last of these devices has.
  struct Best {
    double fullest = std::numeric_limits<double>::infinity();
    size_t count = 0;
  };
  std::vector<std::vector<Best>> best(rooms.size() + 1, std::vector<Best>(all + 1));
  best[0][0].fullest = 0;
  for (size_t device = 0; device < rooms.size(); ++device) {
    const double room = is_known ? double(rooms[device]) : 1.0;
    for (size_t next = device + 1; next <= all; ++next) {
      for (size_t first = device; first < next; ++first) {
        const double fullest =
            std::max(best[device][first].fullest, double(bytes[first][next]) / room);
        if (fullest < best[device + 1][next].fullest) {
          best[device + 1][next] = {fullest, next - first};
        }
      }
    }
  }
  std::vector<LayerShare> shares(rooms.size());
  for (size_t device = rooms.size(), next = all; device > 0; --device) {
    const size_t count = best[device][next].count;
    shares[device - 1] = {next - count, count, bytes[next - count][next]};
    next -= count;
  }
  return shares;
}

std::vector<Stage> cut_layers(const Plan& plan, std::span<const LayerStart> layers,
                              std::span<const LayerShare> shares) {
  std::vector<Stage> stages;
  for (const LayerShare& share : shares) {
    StageCut stage(plan, buffers_of(plan, layers, share.first, share.count));
    for (size_t p = 0; p < plan.phases.size(); ++p) {
      stage.add_phase(plan.phases[p], steps_of(plan, layers, p, share.first, share.count));
    }
    stages.push_back(stage.take());
  }
  return stages;
}

}  // namespace tokamak
