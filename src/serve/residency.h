// Residency: which of a server's models are in memory. It decides from facts alone, without threads
// and devices: who makes room for a model that is asked for, and whose time is over.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tokamak::serve {

/// The facts about a model at the moment.
struct ResidencyFacts {
  bool is_loaded = false;
  bool is_pinned = false;   // it never leaves
  bool is_busy = false;     // requests of it are in flight: it leaves when they have ended
  uint64_t bytes = 0;       // that it takes, or needs at least where it is not loaded; 0: not known
  double last_use = 0;      // seconds of a steady clock
  double keep_seconds = 0;  // after the last use; infinity: until its room is needed
};

struct ResidencyLimits {
  uint32_t models = 0;  // that are loaded at once; 0: no limit
  uint64_t bytes = 0;   // that they take together; 0: not known
};

/// The models that must leave before `model`, which is not loaded, can be: idle ones before busy
/// ones, of each those first that were used least recently, and none that need not. At least one of
/// them where `must_evict`: what was known has turned out to be wrong. Nothing where only pinned
/// models are left and there is no room beside them.
std::optional<std::vector<size_t>> models_to_evict(std::span<const ResidencyFacts> models,
                                                   size_t model, const ResidencyLimits& limits,
                                                   bool must_evict = false);

/// Those that are idle and whose time is over.
std::vector<size_t> expired_models(std::span<const ResidencyFacts> models, double now);

/// When the next time is over of those that are idle; infinity: never.
double next_expiry(std::span<const ResidencyFacts> models);

}  // namespace tokamak::serve
