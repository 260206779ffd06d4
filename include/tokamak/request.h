// A request for text.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tokamak {

/// An image as a file is: PNG, JPEG or WebP, of at most 64 MiB and 64 million pixels.
struct ChatImage {
  std::string path = {};              // of a file, which start() reads; or
  std::vector<std::byte> bytes = {};  // what is in one
};

struct ChatMessage {
  std::string role = {}, content = {};  // roles as the template has them: "system", "user", ...
  std::vector<ChatImage> images = {};   // that stand before the content
};

/// A text to continue, and how. Only one of `prompt`, `ids` and a chat is given; a number of
/// sampling that is unset is the one that the model recommends.
struct TextRequest {
  std::string prompt = {};         // special tokens are added as the model's tokenizer does
  std::string suffix = {};         // a text after the gap that is generated (fill-in-the-middle)
  std::vector<uint32_t> ids = {};  // tokens as they are
  std::vector<ChatMessage> messages = {};
  /// A JSON object with more that the chat template reads: {"tools": [...]}. It may have `messages`
  /// of its own, with parts and tool calls, in place of the above.
  std::string chat_variables = {};

  uint32_t max_tokens = 128;
  std::optional<double> temperature = {};         // 0: the most probable token, nothing is drawn
  std::optional<uint32_t> top_k = {};             // 0: off
  std::optional<double> top_p = {};               // 1: off
  std::optional<double> min_p = {};               // 0: off
  std::optional<double> typical_p = {};           // 1: off
  std::optional<double> repetition_penalty = {};  // 1: off
  double presence_penalty = 0;   // -2 to 2, off the logits of tokens that were generated
  double frequency_penalty = 0;  // the same, for every time
  /// By token, -100 to 100, added to its logits before all else.
  std::vector<std::pair<uint32_t, float>> logit_bias = {};
  std::optional<uint64_t> seed = {};   // unset: another one for every request
  std::vector<std::string> stop = {};  // end the text and are not part of it
  /// Tokens that end it as well; unset: the model's own; none: it goes on to `max_tokens`.
  std::optional<std::vector<uint32_t>> end_ids = {};
  uint32_t min_tokens = 0;    // before which no end token comes
  bool logprobs = false;      // of every token
  uint32_t top_logprobs = 0;  // of the most probable ones too, that number
  /// Those of the prompt's tokens, too, as Generation::prompt_logprobs. The logits of each are
  /// read, at most 8 tokens a step: for scoring texts, not for long prompts. Not for prompts with
  /// images.
  bool prompt_logprobs = false;
  // Only texts of it are generated; at most one of them is given.
  std::string grammar = {};               // GBNF
  std::string json_schema = {};           // a JSON schema; "{}" is any JSON
  std::string regex = {};                 // of ECMA-262, for the whole text
  std::vector<std::string> choices = {};  // one of these

  int priority = 0;  // of requests that wait the highest goes first
  /// From start() on; what there is by then comes back as cancelled.
  std::optional<std::chrono::nanoseconds> deadline = {};
  /// The beginnings of prompts are kept and shared among requests of the same tenant only.
  std::string tenant = {};
  /// The name of one of ModelOptions::adapters; "": the model as it is. Requests of several and of
  /// none run in the same steps.
  std::string adapter = {};
  /// Called by the model's thread when Stream::next(0s) has something new, the end included: wakes
  /// an event loop. Not after the stream was dropped.
  std::function<void()> notify = {};
};

}  // namespace tokamak
