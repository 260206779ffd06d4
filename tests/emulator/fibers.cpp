// Fibers live as long as the thread: they are made by makecontext(), and then switch by _setjmp()
// and _longjmp(), which, unlike swapcontext(), ask nothing of the kernel.
#include "fibers.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace emulator {
namespace {

constexpr size_t kStackBytes = 256 << 10, kGuardBytes = 4096;
constexpr uint32_t kSubgroupLanes = 32;

enum class State : uint8_t { kRuns, kAtWorkgroupBarrier, kAtSubgroupBarrier, kEnded };

struct Fiber {
  ucontext_t made;
  jmp_buf here;
  State state = State::kEnded;
  bool is_new = true;
  uint32_t exchanged[2];  // by turns, so that a lane may be one exchange ahead
  uint32_t turn = 0;
};

struct Work {
  Lane lane = nullptr;
  const void* bound = nullptr;
  void* memory = nullptr;
  uint32_t lanes = 0;
  Order order = Order::kForward;
};

Machine g_machine = {};
Work g_work;
std::vector<std::unique_ptr<Fiber>> g_fibers;
jmp_buf g_home;
bool g_is_stuck = false;

void fiber_main();

Fiber& make_fiber() {
  auto fiber = std::make_unique<Fiber>();
  auto* stack = static_cast<char*>(mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(stack, kGuardBytes, PROT_NONE);
  getcontext(&fiber->made);
  fiber->made.uc_stack.ss_sp = stack + kGuardBytes;
  fiber->made.uc_stack.ss_size = kStackBytes;
  fiber->made.uc_link = nullptr;
  makecontext(&fiber->made, fiber_main, 0);
  g_fibers.push_back(std::move(fiber));
  return *g_fibers.back();
}

/// Goes on with fiber `lane`, for ever as far as the caller is concerned.
[[noreturn]] void go_on(uint32_t lane) {
  Fiber& fiber = *g_fibers[lane];
  g_machine.lane = lane;
  if (!fiber.is_new) _longjmp(fiber.here, 1);
  fiber.is_new = false;
  setcontext(&fiber.made);
  __builtin_unreachable();
}

/// The next lane that can run, or home when there is none.
[[noreturn]] void leave() {
  const uint32_t step = g_work.order == Order::kForward ? 1 : g_work.lanes - 1;
  uint32_t lane = g_machine.lane;
  for (uint32_t i = 0; i < g_work.lanes; ++i) {
    lane = (lane + step) % g_work.lanes;
    if (g_fibers[lane]->state == State::kRuns) go_on(lane);
  }
  for (uint32_t i = 0; i < g_work.lanes; ++i) {
    g_is_stuck = g_is_stuck || g_fibers[i]->state != State::kEnded;
  }
  _longjmp(g_home, 1);
}

/// Lets lanes [first, end) run again if all of them that have not ended wait in `state`.
bool release(State state, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; ++i) {
    const State own = g_fibers[i]->state;
    if (own != state && own != State::kEnded) return false;
  }
  for (uint32_t i = first; i < end; ++i) {
    if (g_fibers[i]->state == state) g_fibers[i]->state = State::kRuns;
  }
  return true;
}

struct Range {
  uint32_t first, end;
};
Range subgroup_of(uint32_t lane) {
  const uint32_t first = lane / kSubgroupLanes * kSubgroupLanes;
  return {first, std::min(first + kSubgroupLanes, g_work.lanes)};
}

void wait_in(State state, Range range) {
  Fiber& own = *g_fibers[g_machine.lane];
  own.state = state;
  if (release(state, range.first, range.end)) return;
  if (_setjmp(own.here) == 0) leave();
}

void sync_workgroup() {
  wait_in(State::kAtWorkgroupBarrier, {0, g_work.lanes});
}

/// All lanes of the subgroup give a value; each sees those of all.
uint32_t exchange(uint32_t value) {
  Fiber& own = *g_fibers[g_machine.lane];
  const uint32_t turn = own.turn;
  own.turn ^= 1;
  own.exchanged[turn] = value;
  wait_in(State::kAtSubgroupBarrier, subgroup_of(g_machine.lane));
  return turn;
}

uint32_t shuffle_xor(uint32_t value, uint32_t mask) {
  const uint32_t turn = exchange(value);
  return g_fibers[g_machine.lane ^ mask]->exchanged[turn];
}

uint32_t any_lane(uint32_t value) {
  const uint32_t turn = exchange(value);
  const Range range = subgroup_of(g_machine.lane);
  uint32_t any = 0;
  for (uint32_t i = range.first; i < range.end; ++i) any |= g_fibers[i]->exchanged[turn];
  return any;
}

void fiber_main() {
  while (true) {
    g_work.lane(g_work.bound, g_work.memory);
    Fiber& own = *g_fibers[g_machine.lane];
    own.state = State::kEnded;
    // Those that wait may have waited for this one alone.
    release(State::kAtWorkgroupBarrier, 0, g_work.lanes);
    const Range range = subgroup_of(g_machine.lane);
    release(State::kAtSubgroupBarrier, range.first, range.end);
    if (_setjmp(own.here) == 0) leave();
  }
}

}  // namespace

Machine& machine() {
  g_machine.sync_workgroup = sync_workgroup;
  g_machine.shuffle_xor = shuffle_xor;
  g_machine.any_lane = any_lane;
  return g_machine;
}

bool run_workgroup(Lane lane, const void* bound, void* workgroup_memory, uint32_t lanes,
                   Order order) {
  g_work = {lane, bound, workgroup_memory, lanes, order};
  g_is_stuck = false;
  // Whole subgroups: a shuffle may ask for a lane that is not there.
  while (g_fibers.size() < lanes || g_fibers.size() % kSubgroupLanes != 0) make_fiber();
  for (uint32_t i = 0; i < lanes; ++i) {
    g_fibers[i]->state = State::kRuns;
    g_fibers[i]->turn = 0;
  }
  g_machine.lane = order == Order::kForward ? lanes - 1 : 0;
  if (_setjmp(g_home) == 0) leave();
  // Fibers that are stuck stay where they are; others take their places.
  if (g_is_stuck) g_fibers.clear();
  return !g_is_stuck;
}

}  // namespace emulator
