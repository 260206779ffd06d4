#include "kernels/collective/collective.h"

#include <algorithm>

#include "kernels/launch.h"

namespace tokamak {
namespace {

/// The operand of every rank; of a rank that is alone its own, as if all had the same.
std::vector<CpuTensor> parts_of(const CpuCall& call, uint32_t ranks) {
  if (call.ranks.empty()) return std::vector<CpuTensor>(ranks, call.inputs[0]);
  TOK_CHECK(call.ranks.size() == ranks);
  return {call.ranks.begin(), call.ranks.end()};
}

void all_reduce_reference(const CpuCall& call) {
  const std::span<float> y = call.outputs[0].f32();
  const std::vector<CpuTensor> parts = parts_of(call, call.as<AllReduce>().ranks);
  const bool adds = call.inputs.size() == 2;
  const size_t columns = call.outputs[0].dims[1], row = call.inputs[0].dims[1];
  for (size_t i = 0; i < y.size(); ++i) {
    double sum = adds ? call.inputs[1].f32()[i] : 0.0;
    for (const CpuTensor& part : parts) {
      for (size_t c = i % columns; c < row; c += columns) sum += part.f32()[i / columns * row + c];
    }
    y[i] = float(sum);
  }
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

constexpr uint32_t kThreads = 256;
/// Workgroups of large steps: their lanes take several parts each.
constexpr uint32_t kMaxGroups = 128;
/// Parts that a lane of those reads at a time.
constexpr uint32_t kHeld = 4;

bool goes_by_fours(const Problem& problem) {
  return problem.outputs[0].shape[1] % 4 == 0;
}

/// Workgroups of which each lane has a part of the output, four columns or one.
uint64_t groups_of(const Problem& problem, bool by_fours) {
  const uint64_t columns = uint64_t(problem.outputs[0].shape[1]) / (by_fours ? 4 : 1);
  return ceil_div<uint64_t>(problem.max_tokens * columns, kThreads);
}

/// `sources`: what comes between the parts' type and the entry point.
Launch launch_of(const Problem& problem, uint32_t ranks, bool by_fours,
                 std::vector<std::string> sources) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]) / (by_fours ? 4 : 1);
  const uint64_t groups = std::clamp<uint64_t>(groups_of(problem, by_fours), 1, kMaxGroups);
  const uint32_t first = uint32_t(1 + problem.inputs.size() + problem.outputs.size());
  sources.insert(sources.begin(), {by_fours ? "collective/fours.wgsl" : "collective/ones.wgsl",
                                   "collective/meeting.wgsl"});
  sources.emplace_back("wgsl/entry.wgsl");
  return {.constants = {{"RANKS", ranks},
                        {"MAX_GROUPS", kMaxMeetingGroups},
                        {"OWN_MEETING", first},
                        {"PART_OF", first + 1},
                        {"MEETING_OF", first + 1 + ranks},
                        {"ONE_ROW", problem.outputs[0].shape[0] == kTokens ? 0u : 1u},
                        {"COLUMNS", columns},
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

const char* residual_source(const Problem& problem) {
  return problem.inputs.size() == 2 ? "collective/residual.wgsl" : "collective/no_residual.wgsl";
}

std::string refuses_put(const Problem& problem, const DeviceInfo&) {
  if (!goes_by_fours(problem)) return "its rows have no fours of columns";
  if (groups_of(problem, true) > kMaxGroups) return "it has more rows than there is room for";
  return "";
}

Launch all_reduce_put(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AllReduce>();
  Launch launch = launch_of(problem, op.ranks, true,
                            {residual_source(problem), "collective/all_reduce_put.wgsl"});
  launch.constants.push_back({"PARTS", op.parts});
  launch.constants.push_back({"INBOX", kArrivalWords});
  launch.constants.push_back({"MAX_PUT_GROUPS", kMaxGroups});
  return launch;
}

Launch all_reduce_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AllReduce>();
  Launch launch = launch_of(problem, op.ranks, goes_by_fours(problem),
                            {"collective/meet.wgsl", leave_source(op.last),
                             residual_source(problem), "collective/all_reduce.wgsl"});
  launch.constants.push_back({"PARTS", op.parts});
  launch.constants.push_back({"HELD", launch.grid.x.count < kMaxGroups ? 1 : kHeld});
  return launch;
}

Launch all_gather_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AllGather>();
  const uint32_t own = uint32_t(problem.inputs[0].shape[1]);
  const bool by_fours = goes_by_fours(problem) && own % 4 == 0;
  Launch launch =
      launch_of(problem, op.ranks, by_fours,
                {"collective/meet.wgsl", leave_source(op.last), "collective/all_gather.wgsl"});
  launch.constants.push_back({"OWN_COLUMNS", own / (by_fours ? 4 : 1)});
  return launch;
}

constexpr KernelVariant kCollectiveVariants[] = {
    {.name = "all_reduce.cuda.put",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCuda,
     .refuses = refuses_put,
     .launch = all_reduce_put},
    {.name = "all_reduce.cuda",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCuda,
     .launch = all_reduce_launch},
    {.name = "all_reduce.cpu",
     .op = op_index<AllReduce>(),
     .backend = BackendKind::kCpu,
     .run = all_reduce_reference},
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
  return kArrivalWords + ranks * 2 * kMaxGroups * kThreads * 8;
}

std::span<const KernelVariant> collective_variants() {
  return kCollectiveVariants;
}

}  // namespace tokamak
