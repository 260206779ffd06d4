// The lanes of a workgroup as fibers on one thread: each runs until it waits for others.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

namespace emulator {

/// The machine as a kernel sees it; device.cuh mirrors it.
struct Machine {
  uint32_t group[3], groups[3];
  uint32_t lane;
  void (*sync_workgroup)();
  uint32_t (*shuffle_xor)(uint32_t value, uint32_t mask);
  uint32_t (*any_lane)(uint32_t value);
  void (*await_inputs)();
  const void* (*bound)();
  void (*refuse)(const char* kernel, const char* array, uint32_t index, uint32_t count);
  void (*let_others_run)();  // threads, while a lane waits for another device
};
Machine& machine();

/// Lets launches of other threads run for a while, during one of this thread (launches.cpp). False
/// when the device has failed.
bool wait_between_launches();

/// In which order lanes that can run are taken: results must not depend on it.
enum class Order { kForward, kBackward };

using Lane = void (*)(const void* bound, void* workgroup_memory);

/// The work of a workgroup.
struct Work {
  Lane lane = nullptr;
  const void* bound = nullptr;
  void* memory = nullptr;  // its own
  uint32_t lanes = 0;
  std::array<uint32_t, 3> group = {}, groups = {1, 1, 1};
  Order order = Order::kForward;
};

/// One workgroup after the other. Its fibers stay for the next one.
class Workgroup {
 public:
  Workgroup();
  ~Workgroup();

  /// Begins while the launch before still runs, up to where lanes wait for its results.
  void begin_early(const Work& work);
  /// Runs it to its end, or the one that began early. False when lanes wait for each other for
  /// ever, at a barrier that some of them do not reach, and when a lane has left an array, which is
  /// printed.
  bool run(const Work& work);
  bool finish();

 private:
  struct Fibers;
  std::unique_ptr<Fibers> fibers_;
};

}  // namespace emulator
