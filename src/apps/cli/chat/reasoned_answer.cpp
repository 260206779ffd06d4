#include "apps/cli/chat/reasoned_answer.h"

#include "apps/cli/line/terminal.h"

namespace tokamak::cli {
namespace {

bool is_beyond(const AnswerReader& reader, std::optional<uint32_t> budget) {
  return budget && reader.is_reasoning() && reader.reasoning_tokens() >= *budget;
}

/// Up to the end of the answer, or of the reasoning that the budget allows.
Result<Generation> run(Engine& engine, Request request, AnswerReader& reader,
                       std::optional<uint32_t> budget) {
  const GenerationCallbacks given = request.callbacks;
  const auto is_enough = [&] { return reader.has_stopped() || is_beyond(reader, budget); };
  // Steps run ahead of what is read of them: tokens after the last one that counts are dropped.
  std::vector<uint32_t> taken;
  request.callbacks.token = [&](uint32_t id, const Logprobs* logprobs) {
    if (is_enough()) return;
    if (given.token) given.token(id, logprobs);
    reader.take(id);
    taken.push_back(id);
  };
  request.callbacks.cancelled = [&] {
    return is_enough() || (given.cancelled && given.cancelled());
  };
  TOK_TRY(Generation result, engine.generate(std::move(request)));
  result.ids = std::move(taken);
  return result;
}

}  // namespace

bool shows_reasoning(Think think) {
  return think == Think::kOn || (think == Think::kDefault && stdout_is_terminal());
}

std::string unfinished_reasoning(const AnswerReader& reader, const Generation& result) {
  const bool is_cut =
      result.finish == FinishReason::kMaxTokens || result.finish == FinishReason::kContextFull;
  if (!reader.is_reasoning() || !is_cut) return "";
  return fmt::format(
      "note: The {} tokens ended within the reasoning; --max-tokens -1 or a larger --context "
      "leaves "
      "room for the answer, --think off answers at once, --think-budget N bounds the reasoning.\n",
      result.ids.size());
}

Result<Generation> generate_answer(Engine& engine, Request request, AnswerReader& reader,
                                   std::optional<uint32_t> budget,
                                   const std::vector<uint32_t>& closing) {
  TOK_TRY(Generation whole, run(engine, request, reader, budget));
  if (is_beyond(reader, budget) && whole.finish == FinishReason::kCancelled) {
    request.prompt.insert(request.prompt.end(), whole.ids.begin(), whole.ids.end());
    request.prompt.insert(request.prompt.end(), closing.begin(), closing.end());
    request.params.max_tokens -= uint32_t(whole.ids.size());
    request.params.sampling.seed = whole.seed;
    for (const uint32_t id : closing) reader.take(id);
    TOK_TRY(const Generation rest, run(engine, std::move(request), reader, {}));
    whole.ids.insert(whole.ids.end(), rest.ids.begin(), rest.ids.end());
    whole.finish = rest.finish;
    whole.prefill_seconds += rest.prefill_seconds;
    whole.decode_seconds += rest.decode_seconds;
  }
  reader.finish();
  if (reader.has_stopped()) whole.finish = FinishReason::kStopString;
  whole.text = reader.content();
  return whole;
}

}  // namespace tokamak::cli
