// A TextRequest becomes what the scheduler takes.
#pragma once
#include <functional>

#include "engine/engine.h"
#include "tokamak/request.h"

namespace tokamak {

struct ChatPrompt {
  std::string text;
  std::vector<uint32_t> ids;  // a placeholder for each image
};

/// The prompt that the model's template makes of `variables`. Only the template's own text makes
/// special tokens: those that messages and tools spell are fed as ordinary characters. `instead`: a
/// Jinja text in place of the model's template, where it is not empty. `end`: where it is not
/// empty, the prompt stops before the last place of this text; an error where there is none.
Result<ChatPrompt> chat_prompt(const Engine& engine, Json variables, std::string_view instead = {},
                               std::string_view end = {});
/// Cuts a text at the last place of `end`, as above.
Result<void> cut_at_last(std::string& text, std::string_view end);

/// Errors: more than one kind of prompt, a chat that the template refuses, a grammar that is none.
/// Reads only what of an engine does not change. Without a seed it has none. Images of messages are
/// placeholders until add_images().
Result<Request> scheduler_request(const Engine& engine, const TextRequest& asked);

/// The images of its messages in their order, decoded. An error names the file or the message.
Result<std::vector<Image>> images_of(const TextRequest& asked);

/// Images as the model takes them, of which `image` gives each when it is its turn. Any thread may
/// call it. Errors: the model reads text only; more tokens than the context has beside
/// `prompt_tokens`; those of `image`.
Result<std::vector<FittedImage>> fit_images(const Engine& engine, size_t prompt_tokens,
                                            size_t count,
                                            const std::function<Result<Image>(size_t)>& image);

/// The images take their places in the prompt; their tower runs when steps read of them. By the
/// thread that runs the engine. Errors: not as many places.
Result<void> add_images(Engine& engine, std::vector<FittedImage> images, Request& request);

}  // namespace tokamak
