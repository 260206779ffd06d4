#include "report/profile/profile.h"

#include <algorithm>
#include <map>

#include "base/table.h"
#include "generate/pages/page_tables.h"
#include "report/bench/bench.h"

namespace tokamak {
namespace {

/// "bf16[2048,2048]" of the constant or cache that a step reads, else of its first output.
std::string operand_text(const Plan& plan, const Step& step) {
  for (const Operand& in : step.inputs) {
    const BufferUse use = plan.at(in.buffer).use;
    if (use == BufferUse::kState || (use == BufferUse::kConstant && in.shape.size() == 2)) {
      return type_text(in);
    }
  }
  return type_text(step.outputs.at(0));
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
  return values[values.size() / 2];
}

/// Seconds of each launch on each rank: the median over the repetitions.
Result<std::vector<std::vector<double>>> time_step(Engine& engine, size_t phase,
                                                   const ProfileOptions& options) {
  TOK_TRY(Session session, engine.start());
  // All rows of equal tokens would choose the same experts.
  const std::vector<uint32_t> ids =
      random_ids(size_t{options.depth} + options.tokens, engine.compiled().facts.vocab);
  const std::span<const uint32_t> before = std::span(ids).first(options.depth);
  const std::vector<uint32_t> tokens(ids.begin() + std::ptrdiff_t(options.depth), ids.end());
  if (options.depth > 0) TOK_TRY(session.feed(before));
  std::vector<Slot> slots;
  if (options.sequences > 0) {
    // The content of their caches does not matter, only that it lies in different places.
    for (const PageTable& table : page_tables(engine.compiled().main.plan)) {
      for (uint32_t i = 0; i < options.sequences; ++i) {
        const uint64_t first = uint64_t{i} * table.pages;
        TOK_TRY(engine.program().write_table(table.buffer, equal_part(table, i), first));
      }
    }
    for (uint32_t i = 0; i < options.sequences; ++i) {
      slots.push_back({.position = options.depth, .length = options.depth + 1, .index = i});
    }
  } else {
    slots.push_back({.count = options.tokens,
                     .position = options.depth,
                     .length = options.depth + options.tokens});
  }
  const StepRequest request{
      .phase = phase, .slots = std::move(slots), .tokens = tokens, .done = {}};
  std::vector<std::vector<std::vector<double>>> repetitions;
  for (uint32_t i = 0; i <= options.repetitions; ++i) {
    TOK_TRY(std::vector<std::vector<double>> ranks, engine.program().time_ranks(request));
    if (i > 0) repetitions.push_back(std::move(ranks));  // the first one warms up
  }
  std::vector<std::vector<double>> medians = repetitions.front();
  for (size_t rank = 0; rank < medians.size(); ++rank) {
    for (size_t launch = 0; launch < medians[rank].size(); ++launch) {
      std::vector<double> sample;
      for (const auto& ranks : repetitions) sample.push_back(ranks[rank][launch]);
      medians[rank][launch] = median(std::move(sample));
    }
  }
  return medians;
}

/// The smallest phase of such a step; of those that decode, the one in which the device chooses the
/// most probable token, if there is one.
Result<size_t> phase_to_time(const Plan& plan, const ProfileOptions& options) {
  if (options.sequences > 0) {
    if (options.sequences > plan.slots) {
      return fail(ErrorCode::kUsage, "The model was opened for {} sequences, not {}.", plan.slots,
                  options.sequences);
    }
    const size_t index = plan.phase_for(options.sequences, PhaseKind::kGreedy);
    if (index < plan.phases.size()) return plan.phase_at(index, options.depth);
    return unsupported("The model gives embeddings and does not decode.");
  }
  const size_t none = plan.phases.size();
  size_t found = none;
  for (size_t i = 0; i < none; ++i) {
    const Phase& phase = plan.phases[i];
    const bool takes = phase.max_tokens >= options.tokens && phase.from_position == 0 &&
                       (phase.kind == PhaseKind::kPrefill || options.tokens == 1);
    if (takes && (found == none || phase.max_tokens <= plan.phases[found].max_tokens)) found = i;
  }
  if (found == none) {
    return fail(ErrorCode::kUsage, "A step takes at most {} tokens, not {} (see --chunk).",
                plan.chunk(), options.tokens);
  }
  return plan.phase_at(found, options.depth);
}

/// A rate in thousands of millions, of two digits at least: the CPU reference has few of them.
std::string giga_text(double rate) {
  const double giga = rate / 1e9;
  return giga < 10 ? fmt::format("{:.2g}", giga) : fmt::format("{:.0f}", giga);
}

Table lines_table(const Profile& profile) {
  Table table;
  table.column("kernel", "kernel")
      .column("operand", "operand")
      .column("launches", "launches", Table::Align::kRight)
      .column("us", "microseconds", Table::Align::kRight)
      .column("each", "", Table::Align::kRight)
      .column("share", "share", Table::Align::kRight)
      .column("GB/s", "bytes_per_second", Table::Align::kRight)
      .column("GFLOP/s", "flops", Table::Align::kRight);
  for (const ProfileLine& line : profile.lines) {
    const double us = line.seconds * 1e6, share = line.seconds / profile.seconds;
    const double moved = double(line.bytes) / line.seconds;
    const double computed = double(line.flops) / line.seconds;
    table.row({line.kernel, line.operand, line.launches, Cell(fmt::format("{:.1f}", us), us),
               fmt::format("{:.2f}", us / line.launches),
               Cell(fmt::format("{:.1f} %", 100 * share), share), Cell(giga_text(moved), moved),
               Cell(giga_text(computed), computed)});
  }
  return table;
}

RankTime rank_time(const Phase& phase, std::span<const double> steps) {
  RankTime time;
  for (size_t i = 0; i < steps.size(); ++i) {
    time.seconds += steps[i];
    if (is_collective(phase.steps[i].op)) time.meeting_seconds += steps[i];
  }
  return time;
}

std::string ranks_text(const Profile& profile) {
  std::string text;
  for (size_t rank = 0; rank < profile.rank_times.size(); ++rank) {
    const auto& [seconds, meeting] = profile.rank_times[rank];
    text += fmt::format("rank {}: {:.1f} us, {:.1f} of them in sums and rows of all ranks\n", rank,
                        seconds * 1e6, meeting * 1e6);
  }
  return text;
}

Json ranks_json(const Profile& profile) {
  Json::Array list;
  for (const auto& [seconds, meeting] : profile.rank_times) {
    Json one;
    one.set("microseconds", seconds * 1e6).set("meeting_microseconds", meeting * 1e6);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

Cost launch_cost(const Plan& plan, const Step& step, const Profile& profile) {
  const uint64_t rows = profile.tokens;
  if (profile.sequences == 0) return step_cost(plan, step, rows, profile.depth + rows);
  return step_cost(plan, step, rows, uint64_t{profile.depth} + 1, rows);
}

Result<Profile> profile(Engine& engine, const ProfileOptions& asked) {
  ProfileOptions options = asked;
  if (options.sequences > 0) options.tokens = options.sequences;
  const Plan& plan = engine.compiled().main.plan;
  const uint32_t context = engine.compiled().context;
  if (uint64_t{options.depth} + options.tokens > context) {
    return fail(ErrorCode::kUsage,
                "A step of {} after {} positions does not fit the context of {} (see --context).",
                options.tokens, options.depth, context);
  }
  TOK_TRY(const size_t index, phase_to_time(plan, options));
  const Phase& phase = plan.phases[index];
  TOK_TRY(std::vector<std::vector<double>> ranks, time_step(engine, index, options));
  const std::vector<double> seconds = ranks.front();
  Profile out{.phase = phase.name,
              .phase_index = index,
              .tokens = options.tokens,
              .sequences = options.sequences,
              .depth = options.depth,
              .launches = uint32_t(seconds.size())};
  std::map<std::pair<std::string, std::string>, ProfileLine> lines;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const Step& step = phase.steps[i];
    std::pair key(std::string(step.kernel->name), operand_text(plan, step));
    ProfileLine& line = lines[key];
    line.kernel = key.first;
    line.operand = key.second;
    const Cost cost = launch_cost(plan, step, out);
    ++line.launches;
    line.seconds += seconds[i];
    line.bytes += cost.bytes;
    line.flops += cost.flops;
    out.seconds += seconds[i];
  }
  out.steps = seconds;
  if (ranks.size() > 1) {
    for (const std::vector<double>& steps : ranks) {
      out.rank_times.push_back(rank_time(phase, steps));
    }
    out.ranks = std::move(ranks);
  }
  for (auto& [key, line] : lines) out.lines.push_back(std::move(line));
  std::ranges::stable_sort(out.lines, std::greater{}, &ProfileLine::seconds);
  return out;
}

std::string profile_text(const Profile& profile) {
  const uint32_t count = profile.sequences > 0 ? profile.sequences : profile.tokens;
  const std::string_view what = profile.sequences > 0 ? "sequence" : "token";
  return lines_table(profile).text() +
         fmt::format("\n{}: {} {}{} after {}, {} launches, {:.1f} us on the device\n",
                     profile.phase, count, what, count == 1 ? "" : "s", profile.depth,
                     profile.launches, profile.seconds * 1e6) +
         ranks_text(profile);
}

Json profile_json(const Profile& profile) {
  Json out;
  out.set("phase", profile.phase).set("tokens", profile.tokens);
  if (profile.sequences > 0) out.set("sequences", profile.sequences);
  out.set("depth", profile.depth);
  out.set("launches", profile.launches).set("microseconds", profile.seconds * 1e6);
  if (!profile.rank_times.empty()) out.set("ranks", ranks_json(profile));
  return out.set("lines", lines_table(profile).json());
}

}  // namespace tokamak
