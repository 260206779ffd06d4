#include "kernels/collective/collective.h"

#include <algorithm>
#include <cmath>

#include "kernels/launch.h"
#include "kernels/norm/rms_norm.h"

namespace tokamak {
namespace {

/// An operand of every rank; of a rank that is alone its own, as if all had the same.
std::vector<CpuTensor> parts_of(const CpuCall& call, uint32_t ranks, size_t input = 0) {
  if (call.ranks.empty()) return std::vector<CpuTensor>(ranks, call.inputs[input]);
  TOK_CHECK(call.ranks.size() == ranks);
  std::vector<CpuTensor> parts;
  for (const std::span<const CpuTensor> inputs : call.ranks) parts.push_back(inputs[input]);
  return parts;
}

/// The sum of `of` ranks and the residual, where there is one.
void sum_ranks(const CpuCall& call, uint32_t of) {
  const std::span<float> y = call.outputs[0].f32();
  const std::vector<CpuTensor> parts = parts_of(call, of);
  const bool adds = call.inputs.size() > 1;
  const size_t columns = call.outputs[0].dims[1], row = call.inputs[0].dims[1];
  for (size_t i = 0; i < y.size(); ++i) {
    double sum = adds ? call.inputs[1].f32()[i] : 0.0;
    for (const CpuTensor& part : parts) {
      for (size_t c = i % columns; c < row; c += columns) sum += part.f32()[i / columns * row + c];
    }
    y[i] = float(sum);
  }
}

void all_reduce_reference(const CpuCall& call) {
  sum_ranks(call, call.as<AllReduce>().ranks);
}

void all_reduce_norm_reference(const CpuCall& call) {
  const auto& op = call.as<AllReduceNorm>();
  sum_ranks(call, op.ranks);
  rms_norm(call.outputs[0].f32(), call.inputs[2].f32(), op.eps, call.outputs[1].f32());
}

void all_gather_reference(const CpuCall& call) {
  const std::span<float> y = call.outputs[0].f32();
  const std::vector<CpuTensor> parts = parts_of(call, call.as<AllGather>().ranks);
  const size_t own = call.inputs[0].dims[1], columns = call.outputs[0].dims[1];
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t row = i / columns, column = i % columns;
    y[i] = parts[column / own].f32()[row * own + column % own];
  }
}

/// The norm of input `x` by the squares of every rank, as output `out`.
void norm_over_ranks(const CpuCall& call, size_t x, uint32_t columns, size_t out) {
  const auto& op = call.as<AllNorm>();
  const std::vector<CpuTensor> parts = parts_of(call, op.ranks, x);
  const std::span<const float> own = call.inputs[x].f32(), w = call.inputs[x + 1].f32();
  const std::span<float> y = call.outputs[out].f32();
  for (size_t first = 0; first < own.size(); first += w.size()) {
    double squares = 0;
    for (const CpuTensor& part : parts) {
      for (const float v : part.f32().subspan(first, w.size())) squares += double{v} * double{v};
    }
    const double scale = 1 / std::sqrt(squares / double(columns) + double{op.eps});
    for (size_t c = 0; c < w.size(); ++c) y[first + c] = float(own[first + c] * scale * w[c]);
  }
}

void all_norm_reference(const CpuCall& call) {
  const auto& op = call.as<AllNorm>();
  norm_over_ranks(call, 0, op.columns, 0);
  if (op.other_columns != 0) norm_over_ranks(call, 2, op.other_columns, 1);
}

constexpr uint32_t kThreads = 256;
/// Workgroups of large steps: their lanes take several parts each.
constexpr uint32_t kMaxGroups = 128;
/// Parts that a lane of those reads at a time.
constexpr uint32_t kHeld = 4;
/// Parts of a row that a lane holds for its norm.
constexpr uint32_t kMaxHeldOfRow = 16;
/// Workgroups that have room for what other ranks put, and parts of each.
constexpr uint32_t kMaxPutGroups = 64, kMaxSlots = 4 * kThreads;

bool is_in_fours(const Problem& problem) {
  return problem.outputs[0].shape[1] % 4 == 0;
}

/// Parts of a row: four columns or one.
uint32_t row_parts(const Problem& problem, bool by_fours) {
  return uint32_t(problem.outputs[0].shape[1]) / (by_fours ? 4 : 1);
}

/// Workgroups of which each lane has a part of the output.
uint64_t groups_of(const Problem& problem, bool by_fours) {
  return ceil_div<uint64_t>(uint64_t{problem.max_tokens} * row_parts(problem, by_fours), kThreads);
}

/// `sources`: what comes between the parts' type and the entry point.
Launch launch_of(const Problem& problem, uint32_t ranks, bool by_fours, uint64_t groups,
                 std::vector<std::string> sources) {
  const uint32_t first = uint32_t(1 + problem.inputs.size() + problem.outputs.size());
  groups = std::clamp<uint64_t>(groups, 1, kMaxGroups);
  sources.insert(sources.begin(), {by_fours ? "collective/fours.wgsl" : "collective/ones.wgsl",
                                   "collective/meeting.wgsl"});
  return {.constants = {{"RANKS", ranks},
                        {"MAX_GROUPS", kMaxMeetingGroups},
                        {"OWN_MEETING", first},
                        {"PART_OF", first + 1},
                        {"MEETING_OF", first + 1 + ranks},
                        {"ONE_ROW", problem.outputs[0].shape[0] == kTokens ? 0u : 1u},
                        {"COLUMNS", row_parts(problem, by_fours)},
                        {"GROUPS", uint32_t(groups)},
                        {"THREADS", kThreads}},
          .sources = std::move(sources),
          .grid = {.x = {uint32_t(groups)}, .y = {}, .z = {}},
          .ranks = ranks};
}

/// `last`: the ranks meet once more.
const char* leave_source(bool last) {
  return last ? "collective/meet_again.wgsl" : "collective/leave.wgsl";
}

/// How values cross from rank to rank.
enum class Way : uint8_t { kPut, kMeet, kTwoSteps };

std::vector<std::string> way_sources(Way way, bool last) {
  switch (way) {
    case Way::kPut:
      return {"collective/read_parts.wgsl", "collective/parts.wgsl", "collective/inbox.wgsl",
              "collective/by_putting.wgsl"};
    case Way::kMeet:
      return {"collective/meet.wgsl", leave_source(last), "collective/read_parts.wgsl",
              "collective/parts.wgsl", "collective/by_meeting.wgsl"};
    case Way::kTwoSteps:
      break;
  }
  return {"collective/meet.wgsl", "collective/changed_parts.wgsl", "collective/parts.wgsl",
          "collective/by_two_steps.wgsl"};
}

/// For collective/inbox.wgsl.
void add_inbox(Launch& launch) {
  launch.constants.push_back({"INBOX", kArrivalWords});
  launch.constants.push_back({"MAX_PUT_GROUPS", kMaxPutGroups});
  launch.constants.push_back({"MAX_SLOTS", kMaxSlots});
}

/// A sum over ranks whose lanes hold `held` parts; a workgroup has `chunk` neighbours at a time, of
/// which a rank adds up a slice in two steps: no lane reads more at a time than a slice has for it.
Launch sum_launch(const Problem& problem, const auto& op, Way way, uint64_t groups, uint32_t held,
                  uint32_t chunk, std::vector<std::string> sources) {
  const bool adds = problem.inputs.size() > 1;
  std::vector<std::string> all = way_sources(way, op.last);
  all.emplace_back(adds ? "collective/residual.wgsl" : "collective/no_residual.wgsl");
  std::ranges::move(sources, std::back_inserter(all));
  Launch launch = launch_of(problem, op.ranks, is_in_fours(problem), groups, std::move(all));
  launch.constants.push_back({"PARTS", op.parts});
  launch.constants.push_back({"HELD", held});
  if (way == Way::kTwoSteps) {
    launch.constants.push_back({"CHUNK", chunk});
    launch.constants.push_back(
        {"IN_FLIGHT", std::min(kHeld, ceil_div(ceil_div(chunk, op.ranks), kThreads))});
  }
  if (way == Way::kPut) add_inbox(launch);
  return launch;
}

constexpr const char* kNoFours = "its rows have no fours of columns";
constexpr const char* kNoRoom = "it has more rows than there is room for";

std::string refuses_put(const Problem& problem, const DeviceInfo&) {
  if (!is_in_fours(problem)) return kNoFours;
  return groups_of(problem, true) > kMaxPutGroups ? kNoRoom : "";
}

template <Way kWay>
Launch all_reduce_launch(const Problem& problem, const DeviceInfo&) {
  const uint64_t groups = groups_of(problem, is_in_fours(problem));
  const uint32_t held = groups < kMaxGroups ? 1 : kHeld;
  return sum_launch(problem, problem.as<AllReduce>(), kWay, groups, held, held * kThreads,
                    {"collective/all_reduce.wgsl", "wgsl/entry.wgsl"});
}

/// The bytes that a link between two H200 moves in a second, and the time of a meeting: measured.
constexpr double kLinkBytesPerSecond = 388e9, kMeetingSeconds = 2.9e-6;

/// In one step a rank reads all of every other one's; in two its slice of theirs, and writes as
/// much, for one more meeting.
std::string refuses_two_steps(const Problem& problem, const DeviceInfo&) {
  const auto* sum = std::get_if<AllReduce>(problem.op);
  const double ranks = sum != nullptr ? sum->ranks : problem.as<AllReduceNorm>().ranks;
  const double bytes = 4.0 * double(problem.max_tokens) * double(problem.outputs[0].shape[1]);
  const double saved = (ranks - 1) * (1 - 2 / ranks) * bytes / kLinkBytesPerSecond;
  return saved > kMeetingSeconds ? "" : "a second meeting takes longer than what it saves";
}

uint32_t held_of_row(const Problem& problem) {
  return ceil_div(row_parts(problem, is_in_fours(problem)), kThreads);
}

std::string refuses_norm(const Problem& problem, const DeviceInfo&) {
  return held_of_row(problem) > kMaxHeldOfRow ? "its rows are too long" : "";
}
std::string refuses_norm_in_two_steps(const Problem& problem, const DeviceInfo& device) {
  const std::string reason = refuses_norm(problem, device);
  return reason.empty() ? refuses_two_steps(problem, device) : reason;
}
std::string refuses_put_norm(const Problem& problem, const DeviceInfo&) {
  if (!is_in_fours(problem)) return kNoFours;
  const bool has_room =
      problem.max_tokens <= kMaxPutGroups && held_of_row(problem) * kThreads <= kMaxSlots;
  return has_room ? "" : kNoRoom;
}

template <Way kWay>
Launch all_reduce_norm_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AllReduceNorm>();
  const uint32_t row = row_parts(problem, is_in_fours(problem));
  Launch launch = sum_launch(problem, op, kWay, problem.max_tokens, held_of_row(problem), row,
                             with_reduction(true, {"collective/all_reduce_norm.wgsl"}));
  launch.constants.push_back({"UNIT", is_in_fours(problem) ? 4u : 1u});
  launch.constants.push_back({"EPS", op.eps});
  return launch;
}

Launch all_gather_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AllGather>();
  const uint32_t own = uint32_t(problem.inputs[0].shape[1]);
  const bool by_fours = is_in_fours(problem) && own % 4 == 0;
  Launch launch =
      launch_of(problem, op.ranks, by_fours, groups_of(problem, by_fours),
                {"collective/meet.wgsl", leave_source(op.last), "collective/read_parts.wgsl",
                 "collective/all_gather.wgsl", "wgsl/entry.wgsl"});
  launch.constants.push_back({"OWN_COLUMNS", own / (by_fours ? 4 : 1)});
  return launch;
}

/// Workgroups have a row at a time: those that have room for what other ranks put, with more lanes
/// where each has several rows.
constexpr uint32_t kLanesOfRows = 1024;

std::string refuses_all_norm(const Problem& problem, const DeviceInfo&) {
  return ceil_div(problem.max_tokens, kMaxPutGroups) > 2 * kMaxSlots ? kNoRoom : "";
}

Launch all_norm_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AllNorm>();
  const bool has_other = op.other_columns != 0;
  const bool by_fours = std::ranges::all_of(
      problem.outputs, [](const TensorDesc& norm) { return norm.shape[1] % 4 == 0; });
  Launch launch =
      launch_of(problem, op.ranks, by_fours, std::min(problem.max_tokens, kMaxPutGroups),
                with_reduction(
                    true, {"collective/inbox.wgsl",
                           has_other ? "collective/other_row.wgsl" : "collective/no_other_row.wgsl",
                           "collective/all_norm.wgsl"}));
  if (problem.max_tokens > kMaxPutGroups) {
    std::ranges::find(launch.constants, "THREADS", &Constant::name)->value = kLanesOfRows;
  }
  add_inbox(launch);
  launch.constants.push_back({"ALL_COLUMNS", op.columns});
  launch.constants.push_back({"EPS", op.eps});
  if (!has_other) return launch;
  const uint32_t other = uint32_t(problem.outputs[1].shape[1]);
  launch.constants.push_back({"OTHER_COLUMNS", other / (by_fours ? 4 : 1)});
  launch.constants.push_back({"ALL_OTHER_COLUMNS", op.other_columns});
  return launch;
}

constexpr KernelVariant kCollectiveVariants[] = {
    {.name = "all_norm.cuda",
     .op = op_index<AllNorm>(),
     .backend = BackendKind::kCuda,
     .needs = kFeatureSubgroups,
     .refuses = refuses_all_norm,
     .launch = all_norm_launch},
    {.name = "all_norm.cpu",
     .op = op_index<AllNorm>(),
     .backend = BackendKind::kCpu,
     .run = all_norm_reference},
    {.name = "all_reduce.cuda.two_steps",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCuda,
     .refuses = refuses_two_steps,
     .launch = all_reduce_launch<Way::kTwoSteps>},
    {.name = "all_reduce.cuda.put",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCuda,
     .refuses = refuses_put,
     .launch = all_reduce_launch<Way::kPut>},
    {.name = "all_reduce.cuda",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCuda,
     .launch = all_reduce_launch<Way::kMeet>},
    {.name = "all_reduce.cpu",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCpu,
     .run = all_reduce_reference},
    {.name = "all_reduce_norm.cuda.two_steps",
     .op = op_index<AllReduceNorm>(),
     .backend = BackendKind::kCuda,
     .needs = kFeatureSubgroups,
     .refuses = refuses_norm_in_two_steps,
     .launch = all_reduce_norm_launch<Way::kTwoSteps>},
    {.name = "all_reduce_norm.cuda.put",
     .op = op_index<AllReduceNorm>(),
     .backend = BackendKind::kCuda,
     .needs = kFeatureSubgroups,
     .refuses = refuses_put_norm,
     .launch = all_reduce_norm_launch<Way::kPut>},
    {.name = "all_reduce_norm.cuda",
     .op = op_index<AllReduceNorm>(),
     .backend = BackendKind::kCuda,
     .needs = kFeatureSubgroups,
     .refuses = refuses_norm,
     .launch = all_reduce_norm_launch<Way::kMeet>},
    {.name = "all_reduce_norm.cpu",
     .op = op_index<AllReduceNorm>(),
     .backend = BackendKind::kCpu,
     .run = all_reduce_norm_reference},
    {.name = "all_gather.cuda",
     .op = op_index<AllGather>(),
     .backend = BackendKind::kCuda,
     .launch = all_gather_launch},
    {.name = "all_gather.cpu",
     .op = op_index<AllGather>(),
     .backend = BackendKind::kCpu,
     .run = all_gather_reference},
};

}  // namespace

uint32_t meeting_words(uint32_t ranks) {
  return kArrivalWords + ranks * 2 * kMaxPutGroups * kMaxSlots * 8;
}

std::span<const KernelVariant> collective_variants() {
  return kCollectiveVariants;
}

}  // namespace tokamak
