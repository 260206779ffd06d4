// Request: a prompt, and how it is to be continued; what a scheduler takes.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "generate/sample/generation.h"
#include "generate/steps/image_rows.h"

namespace tokamak {

enum class RequestId : uint64_t {};

struct Request {
  std::vector<uint32_t> prompt;
  /// Those whose ids the prompt has, each with all of its ids wherever it stands. The request keeps
  /// them for as long as it may have to be computed again.
  std::vector<ImageRef> images;
  GenerationParams params;
  GenerationCallbacks callbacks;  // called by step(); they must not call the scheduler
  /// Receives the logits after the prompt, before any rule: where nothing is to be generated
  /// (GenerationParams::max_tokens 0) they are what is asked for.
  std::function<void(std::span<const float>)> logits;
  /// With GenerationParams::prompt_logprobs: receives the logits after that token of the prompt, of
  /// each but the last; again where a device was lost.
  std::function<void(uint32_t token, std::span<const float>)> prompt_logits;
  /// Receives the result, once, from step(); or why there is none.
  std::function<void(Result<Generation>)> done;
  /// The highest of those that wait goes first; of equals clients take turns, then their groups
  /// (generate/turns.h).
  int priority = 0;
  /// By the scheduler's clock; what there is by then comes back as cancelled. Unset: none.
  std::optional<double> deadline;
  /// Pages of prompts are shared only among requests of the same tenant.
  std::string tenant;
  /// Requests of one client take turns as one tenant, however many it names; empty: as their own.
  std::string client;
  /// Requests of one number belong together, as the choices of one call, and take turns as one. 0:
  /// a group of its own.
  uint64_t group = 0;
  /// Another one of its group has the same prompt, of which metrics count the tokens once.
  bool repeats_prompt = false;
  /// Which adapter of the plan its rows take, from 1 on; 0: none. Pages are shared only among
  /// requests of the same one, too.
  uint32_t adapter = 0;
};

}  // namespace tokamak
