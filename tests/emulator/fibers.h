// The lanes of a workgroup as fibers on one thread: each runs until it waits for others.
#pragma once
#include <cstdint>
#include <string>

namespace emulator {

/// What a kernel sees of the machine; device.cuh mirrors it.
struct Machine {
  uint32_t group[3];
  uint32_t lane;
  void (*sync_workgroup)();
  uint32_t (*shuffle_xor)(uint32_t value, uint32_t mask);
  uint32_t (*any_lane)(uint32_t value);
};
Machine& machine();

/// In which order lanes that can run are taken: results must not depend on it.
enum class Order { kForward, kBackward };

using Lane = void (*)(const void* bound, void* workgroup_memory);

/// Runs `lanes` lanes of one workgroup to their ends. False when they wait for each other for ever:
/// a barrier that some lanes do not reach.
bool run_workgroup(Lane lane, const void* bound, void* workgroup_memory, uint32_t lanes,
                   Order order);

}  // namespace emulator
