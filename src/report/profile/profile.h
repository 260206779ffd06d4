// The time of each launch of a step, by the device's own clock, like launches put
// together.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tokamak {

struct ProfileOptions {
  uint32_t tokens = 1;     // of the step; 1: decode
  uint32_t sequences = 0;  // not 0: a step that decodes a token of each of that many
  uint32_t depth = 0;      // positions taken before it
  uint32_t repetitions = 7;
};

/// Launches of one kernel on operands of one kind.
struct ProfileLine {
  std::string kernel, operand;  // operand: the weight or cache it reads, else what it makes
  uint32_t launches = 0;
  double seconds = 0;  // of all of them; medians of the repetitions
  uint64_t bytes = 0, flops = 0;
};

/// A rank's seconds, and of them those of launches in which ranks meet: there one waits for others.
struct RankTime {
  double seconds = 0, meeting_seconds = 0;
};

struct Profile {
  std::string phase;
  size_t phase_index = 0;  // in the plan
  uint32_t tokens = 0, sequences = 0, depth = 0, launches = 0;
  double seconds = 0;              // sum of the lines
  std::vector<ProfileLine> lines;  // the slowest first
  std::vector<double> steps;       // seconds of each launch, in the plan's order
  // The same of each rank where there are several, and the sums.
  std::vector<std::vector<double>> ranks = {};
  std::vector<RankTime> rank_times = {};
};

/// Errors: more tokens than the context or a step takes, more sequences than the engine was opened
/// for, a device without timestamps.
Result<Profile> profile(Engine& engine, const ProfileOptions& options);

/// The work of a launch of the profile's step.
Cost launch_cost(const Plan& plan, const Step& step, const Profile& profile);

std::string profile_text(const Profile& profile);
Json profile_json(const Profile& profile);

}  // namespace tokamak
