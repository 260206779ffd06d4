// Fibers live as long as the thread: they are made by makecontext(), and then switch by _setjmp()
// and _longjmp(), which, unlike swapcontext(), ask nothing of the kernel.
#include "fibers.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace emulator {
namespace {

constexpr size_t kStackBytes = 256 << 10, kGuardBytes = 4096;
constexpr uint32_t kSubgroupLanes = 32;

enum class State : uint8_t {
  kRuns,
  kAtWorkgroupBarrier,
  kAtSubgroupBarrier,
  kAwaitsInputs,
  kEnded
};

struct Fiber {
  ucontext_t made;
  jmp_buf here;
  State state = State::kEnded;
  bool is_new = true;
  uint32_t exchanged[2];  // by turns, so that a lane may be one exchange ahead
  uint32_t turn = 0;
};

/// The lanes of one workgroup.
struct Lanes {
  Work work;
  std::vector<std::unique_ptr<Fiber>> fibers;
  bool is_early = false;  // it may not see yet what the launch before it writes
  bool is_stuck = false;
};

Machine g_machine = {};
Lanes* g_lanes = nullptr;  // of the workgroup that runs
jmp_buf g_home;

void fiber_main();

void make_fiber(Lanes& lanes) {
  auto fiber = std::make_unique<Fiber>();
  auto* stack = static_cast<char*>(mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(stack, kGuardBytes, PROT_NONE);
  getcontext(&fiber->made);
  fiber->made.uc_stack.ss_sp = stack + kGuardBytes;
  fiber->made.uc_stack.ss_size = kStackBytes;
  fiber->made.uc_link = nullptr;
  makecontext(&fiber->made, fiber_main, 0);
  lanes.fibers.push_back(std::move(fiber));
}

/// Goes on with fiber `lane`, for ever as far as the caller is concerned.
[[noreturn]] void go_on(uint32_t lane) {
  Fiber& fiber = *g_lanes->fibers[lane];
  g_machine.lane = lane;
  if (!fiber.is_new) _longjmp(fiber.here, 1);
  fiber.is_new = false;
  setcontext(&fiber.made);
  __builtin_unreachable();
}

/// The next lane that can run, or home when there is none.
[[noreturn]] void leave() {
  const uint32_t count = g_lanes->work.lanes;
  const uint32_t step = g_lanes->work.order == Order::kForward ? 1 : count - 1;
  uint32_t lane = g_machine.lane;
  for (uint32_t i = 0; i < count; ++i) {
    lane = (lane + step) % count;
    if (g_lanes->fibers[lane]->state == State::kRuns) go_on(lane);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const State own = g_lanes->fibers[i]->state;
    const bool is_early = own == State::kAwaitsInputs && g_lanes->is_early;
    g_lanes->is_stuck = g_lanes->is_stuck || (own != State::kEnded && !is_early);
  }
  _longjmp(g_home, 1);
}

/// Lets lanes [first, end) run again if all of them that have not ended wait in `state`.
bool release(State state, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; ++i) {
    const State own = g_lanes->fibers[i]->state;
    if (own != state && own != State::kEnded) return false;
  }
  for (uint32_t i = first; i < end; ++i) {
    State& own = g_lanes->fibers[i]->state;
    if (own == state) own = State::kRuns;
  }
  return true;
}

struct Range {
  uint32_t first, end;
};
Range subgroup_of(uint32_t lane) {
  const uint32_t first = lane / kSubgroupLanes * kSubgroupLanes;
  return {first, std::min(first + kSubgroupLanes, g_lanes->work.lanes)};
}

void wait_in(State state, Range range) {
  Fiber& own = *g_lanes->fibers[g_machine.lane];
  own.state = state;
  if (release(state, range.first, range.end)) return;
  if (_setjmp(own.here) == 0) leave();
}

void sync_workgroup() {
  wait_in(State::kAtWorkgroupBarrier, {0, g_lanes->work.lanes});
}

/// All lanes of the subgroup give a value; each sees those of all.
uint32_t exchange(uint32_t value) {
  Fiber& own = *g_lanes->fibers[g_machine.lane];
  const uint32_t turn = own.turn;
  own.turn ^= 1;
  own.exchanged[turn] = value;
  wait_in(State::kAtSubgroupBarrier, subgroup_of(g_machine.lane));
  return turn;
}

uint32_t shuffle_xor(uint32_t value, uint32_t mask) {
  const uint32_t turn = exchange(value);
  return g_lanes->fibers[g_machine.lane ^ mask]->exchanged[turn];
}

uint32_t any_lane(uint32_t value) {
  const uint32_t turn = exchange(value);
  const Range range = subgroup_of(g_machine.lane);
  uint32_t any = 0;
  for (uint32_t i = range.first; i < range.end; ++i) any |= g_lanes->fibers[i]->exchanged[turn];
  return any;
}

void await_inputs() {
  if (!g_lanes->is_early) return;
  Fiber& own = *g_lanes->fibers[g_machine.lane];
  own.state = State::kAwaitsInputs;
  if (_setjmp(own.here) == 0) leave();
}

const void* bound() {
  return g_lanes->work.bound;
}

/// Another thread may run launches in the meantime: it finds the machine as if nothing ran. Where
/// the device fails, the workgroup ends, since the other one may never come.
void let_others_run() {
  const Machine machine = g_machine;
  Lanes* const lanes = g_lanes;
  jmp_buf home;
  std::memcpy(&home, &g_home, sizeof home);
  const bool works = wait_between_launches();
  g_machine = machine;
  g_lanes = lanes;
  std::memcpy(&g_home, &home, sizeof home);
  if (works) return;
  g_lanes->is_stuck = true;
  _longjmp(g_home, 1);
}

/// Ends the workgroup: the lane never goes on.
void refuse(const char* kernel, const char* array, uint32_t index, uint32_t count) {
  std::string_view name = kernel;
  name.remove_prefix(name.rfind('/') + 1);
  name = name.substr(0, name.rfind(".cu"));
  std::fprintf(stderr, "emulated CUDA: %.*s: index %u of \"%s\", which has %u elements\n",
               int(name.size()), name.data(), index, array, count);
  g_lanes->is_stuck = true;
  _longjmp(g_home, 1);
}

void fiber_main() {
  while (true) {
    const Work& work = g_lanes->work;
    work.lane(work.bound, work.memory);
    Fiber& own = *g_lanes->fibers[g_machine.lane];
    own.state = State::kEnded;
    // Those that wait may have waited for this one alone.
    release(State::kAtWorkgroupBarrier, 0, g_lanes->work.lanes);
    const Range range = subgroup_of(g_machine.lane);
    release(State::kAtSubgroupBarrier, range.first, range.end);
    if (_setjmp(own.here) == 0) leave();
  }
}

void start(Lanes& lanes, const Work& work) {
  lanes.work = work;
  lanes.is_stuck = false;
  // A workgroup that began early never ends when the launch before it fails.
  const auto has_ended = [](const auto& fiber) { return fiber->state == State::kEnded; };
  if (!std::ranges::all_of(lanes.fibers, has_ended)) lanes.fibers.clear();
  // Whole subgroups: a shuffle may ask for a lane that is not there.
  while (lanes.fibers.size() < work.lanes || lanes.fibers.size() % kSubgroupLanes != 0) {
    make_fiber(lanes);
  }
  for (uint32_t i = 0; i < work.lanes; ++i) {
    lanes.fibers[i]->state = State::kRuns;
    lanes.fibers[i]->turn = 0;
  }
}

/// Until no lane can go on. False when some wait for ever.
bool go_to_end(Lanes& lanes) {
  g_lanes = &lanes;
  const Work& work = lanes.work;
  std::ranges::copy(work.group, g_machine.group);
  std::ranges::copy(work.groups, g_machine.groups);
  g_machine.lane = work.order == Order::kForward ? work.lanes - 1 : 0;
  if (_setjmp(g_home) == 0) leave();
  // Fibers that are stuck stay where they are; others take their places.
  if (lanes.is_stuck) lanes.fibers.clear();
  return !lanes.is_stuck;
}

}  // namespace

Machine& machine() {
  g_machine.sync_workgroup = sync_workgroup;
  g_machine.shuffle_xor = shuffle_xor;
  g_machine.any_lane = any_lane;
  g_machine.await_inputs = await_inputs;
  g_machine.bound = bound;
  g_machine.refuse = refuse;
  g_machine.let_others_run = let_others_run;
  return g_machine;
}

struct Workgroup::Fibers : Lanes {};

Workgroup::Workgroup() : fibers_(std::make_unique<Fibers>()) {}
Workgroup::~Workgroup() = default;

void Workgroup::begin_early(const Work& work) {
  fibers_->is_early = true;
  start(*fibers_, work);
  go_to_end(*fibers_);
}

bool Workgroup::run(const Work& work) {
  fibers_->is_early = false;
  start(*fibers_, work);
  return go_to_end(*fibers_);
}

bool Workgroup::finish() {
  fibers_->is_early = false;
  if (fibers_->is_stuck) return false;
  for (uint32_t i = 0; i < fibers_->work.lanes; ++i) {
    State& own = fibers_->fibers[i]->state;
    if (own == State::kAwaitsInputs) own = State::kRuns;
  }
  return go_to_end(*fibers_);
}

}  // namespace emulator
