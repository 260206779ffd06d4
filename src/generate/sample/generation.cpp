#include "generate/sample/generation.h"

namespace tokamak {

std::string_view finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndToken:
      return "end";
    case FinishReason::kStopString:
      return "stop";
    case FinishReason::kMaxTokens:
      return "length";
    case FinishReason::kContextFull:
      return "context";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kGrammar:
      return "grammar";
  }
  return "";
}

bool is_plain_greedy(const GenerationParams& params) {
  return params.sampling.temperature == 0 && params.sampling.repetition_penalty == 1 &&
         !params.sampling.changes_scores() && !params.logprobs && !params.grammar;
}

}  // namespace tokamak
