// The work of a request for text: one job of the engine for each prompt, and how to answer.
#pragma once
#include "engine/engine.h"
#include "protocol/chat/image_parts.h"
#include "protocol/grammars/answer_grammar.h"
#include "protocol/requests/decoded.h"
#include "protocol/requests/fields.h"
#include "protocol/requests/sink.h"
#include "protocol/service/text_body_reader.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::protocol {

struct TextJob {
  std::vector<Request> prompts;     // without callbacks and seeds
  std::vector<FittedImage> images;  // of the chat, that finish_text_job() puts in their places
  std::optional<ByteBudget::Lease> lease;  // of their bytes, for as long as the job is there
  std::vector<std::string> echoes;         // for each prompt, what stands in front of its answers
  uint32_t choices = 1;                    // answers to each prompt
  uint32_t shown = 1;                      // of them, the best
  std::optional<uint64_t> seed;            // of the first choice; unset: a random one
  bool streams = false, counts_usage = false, has_logprobs = false;
  std::vector<std::string> stop;  // looked for in content only
  OutputFormat form;              // how answers are read
  std::vector<TokenMark> marks;   // tokens that the form gives a meaning
  bool one_call_only = false;
  bool is_chat = false;  // the prompt is the messages and not `prompt`
};

/// The means to read requests for text, one after the other.
struct TextReading {
  const Engine& engine;
  const ChatForm& chat;
  AnswerGrammars& grammars;
  ByteBudget& decoded;  // of the images of all requests
};

/// Reads the request in a body. All that is kept is `tenant`'s alone. `admit` is called when it is
/// known how many sequences that is; its error comes before the work of reading the prompts. Its
/// max_tokens fit the context. Errors name the field.
Answer<TextJob> read_text_job(const TextReading& with, const TextBody& body,
                              const std::string& tenant, const HttpRequest::Admit& admit);
/// The field that its prompts stand in.
inline std::string_view prompt_field(const TextJob& job) {
  return job.is_chat ? "messages" : "prompt";
}
/// Gives the images their places in the prompt, by the thread that runs the engine.
Answer<void> finish_text_job(Engine& engine, TextJob& job);

/// The files of the images of a chat. Errors: a model that reads text only.
Answer<std::vector<ImageFile>> chat_images(const Engine& engine, const Fields& fields);
/// How many tokens a prompt of that many has, in which each image is one, when they are in place.
Answer<uint64_t> tokens_with_images(const Engine& engine, uint64_t tokens,
                                    std::span<const ImageFile> images);

}  // namespace tokamak::protocol
