// Requests that meet in batches, share beginnings and take pages from each other, and what each
// gives alone.
#pragma once
#include <map>
#include <vector>

#include "engine/engine.h"

namespace tokamak::golden {

inline constexpr uint32_t kRequests = 7;

/// Prompts of which some share a beginning and some are scored; greedy ones and ones with seeds.
std::vector<Request> requests_for(uint32_t vocab);

struct Text {
  std::vector<uint32_t> ids;
  std::vector<float> scores;  // of the prompt
  bool operator==(const Text&) const = default;
};

struct Outcome {
  std::map<uint32_t, Text> texts;
  SchedulerStats stats;
};

/// All of them, of which some arrive while others run.
Outcome run_all(Engine& engine, const std::vector<Request>& requests);

/// One after the other, on an engine for one.
std::vector<Text> run_alone(Engine& engine, const std::vector<Request>& requests);

/// On the CPU the very same; on a device where it is sure of the token, which the small models here
/// are often not: most of them must agree, and those that do not must begin alike.
void expect_same(const std::vector<Text>& alone, const Outcome& together, bool is_exact);

}  // namespace tokamak::golden
