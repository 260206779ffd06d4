#include "apps/cli/chat/answer_text.h"
#include "apps/cli/chat/chat_template_choice.h"
#include "apps/cli/chat/reasoned_answer.h"
#include "apps/cli/command.h"
#include "engine/requests/image_files.h"

namespace tokamak::cli {
namespace {

struct DescribeFlags {
  ModelFlags model;
  SamplingFlags sampling;
  std::vector<std::string> images;
  ThinkFlags think;
  std::string prompt = "Describe the image.", file, system, chat_template;
  double megapixels = 1;
  bool json = false;
};

/// The images, then the question: what models were trained on.
Json message_with(size_t images, const std::string& prompt) {
  Json::Array parts;
  for (size_t i = 0; i < images; ++i) {
    Json part;
    parts.push_back(std::move(part.set("type", "image")));
  }
  Json text;
  parts.push_back(std::move(text.set("type", "text").set("text", prompt)));
  Json message;
  message.set("role", "user").set("content", std::move(parts));
  return message;
}

Json variables_of(const DescribeFlags& flags) {
  Json::Array messages;
  if (!flags.system.empty()) {
    Json system;
    messages.push_back(std::move(system.set("role", "system").set("content", flags.system)));
  }
  messages.push_back(message_with(flags.images.size(), flags.prompt));
  Json variables;
  variables.set("messages", std::move(messages)).set("add_generation_prompt", true);
  return variables;
}

Json result_json(const DescribeFlags& flags, const Engine& engine, const Generation& result,
                 const std::string& reasoning) {
  Json::Array images(flags.images.begin(), flags.images.end());
  Json out;
  out.set("images", std::move(images)).set("prompt", flags.prompt).set("text", result.text);
  if (!reasoning.empty()) out.set("reasoning", reasoning);
  out.set("tokens", to_json(result.ids)).set("finish", std::string(finish_name(result.finish)));
  out.set("seed", result.seed).set("prompt_tokens", uint64_t{result.prompt_tokens});
  add_origin(out, engine, flags.model.model());
  return out;
}

/// A wrong address is an error before anything is read.
Result<Image> read_image(const std::string& path) {
  if (path.starts_with("http://") || path.starts_with("https://")) {
    return fail(
        ErrorCode::kUsage,
        "{}: `tokamak describe` fetches nothing; download the image, or pipe it in: curl -L "
        "... | tokamak describe MODEL -",
        path);
  }
  TOK_TRY(const std::string bytes, read_input(path, kMaxSoundBytes));
  auto image = image_of_bytes(std::as_bytes(std::span(bytes)));
  if (!image) return Failure(image.error().within(path == "-" ? "standard input" : path));
  return image;
}

Result<std::vector<ImageRef>> encoded_images(Engine& engine, std::span<const Image> images) {
  std::vector<ImageRef> out;
  for (size_t i = 0; i < images.size(); ++i) {
    auto image = engine.encode_image(images[i]);
    if (!image) return Failure(image.error().within(fmt::format("image {}", i + 1)));
    out.push_back(*std::move(image));
  }
  return out;
}

Result<void> describe(DescribeFlags flags) {
  // Whatever is wrong with a file shows before a model is loaded.
  std::vector<Image> images;
  for (const std::string& path : flags.images) {
    TOK_TRY(Image image, read_image(path));
    images.push_back(std::move(image));
  }
  if (!flags.file.empty()) {
    TOK_TRY(flags.prompt, read_text(flags.file));
    flags.prompt = without_line_end(std::move(flags.prompt));
  }
  TOK_TRY(TemplateChoice choice, choose_template(flags.chat_template));
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(OpenOptions options, flags.model.options());
  options.task = Task::kText;
  options.image_pixels = pixels_of(flags.megapixels);
  TOK_TRY(const std::unique_ptr<Engine> engine, ModelFlags::open(std::move(options)));
  TOK_TRY(const Tokenizer* tokenizer, engine->tokenizer());
  TOK_TRY(const GenerationParams defaults, engine->defaults());
  TOK_TRY(GenerationParams params, flags.sampling.params(defaults));
  TOK_TRY(find_own_template(flags.chat_template, engine->files(), choice));
  TOK_TRY(add_end(choice, *tokenizer, params));
  const Reasoning reasoning(*engine, *tokenizer, choice.jinja);
  // A grammar has no room for reasoning in front of what it describes.
  const Think think = params.grammar ? Think::kOff : flags.think.think();
  reasoning.adjust(params, think, flags.sampling.is_limited());
  TOK_TRY(ThinkingPrompt own,
          reasoning.prompt(variables_of(flags), flags.think.variables(), think));
  AnswerWaiting waiting(images.size() == 1 ? "encoding the image" : "encoding the images",
                        compiles_while_running(*engine));
  AnswerText text(shows_reasoning(think));
  AnswerReader reader(*tokenizer, std::move(own.form), reasoning.marks(),
                      std::exchange(params.stop, {}),
                      params.end_ids.value_or(std::vector<uint32_t>()),
                      [&](bool is_reasoning, std::string_view more) {
                        if (!flags.json) text.show(is_reasoning, more);
                      });
  GenerationCallbacks callbacks;
  callbacks.cancelled = [&] { return interrupted() || !text.status(); };
  callbacks.token = [&](uint32_t, const Logprobs*) {
    when_interrupted(OnInterrupt::kStop);
    waiting.token();
  };
  const Result<Generation> result = [&]() -> Result<Generation> {
    Request request{.params = params, .callbacks = callbacks};
    TOK_TRY(request.images, encoded_images(*engine, images));
    TOK_TRY(request.prompt, engine->place_images(own.prompt.ids, request.images));
    waiting.read_prompt();
    TOK_TRY(const std::vector<uint32_t> closing, reasoning.closing_ids());
    return generate_answer(*engine, std::move(request), reader, flags.think.budget(), closing);
  }();
  waiting.end();
  if (!result) return Failure(result.error().within(engine->files().name));
  if (!flags.json) text.end();
  TOK_TRY(text.status());
  if (flags.json) {
    const Json out = result_json(flags, *engine, *result, reader.reasoning());
    TOK_TRY(print(out.dump() + "\n"));
  } else if (!shows_reasoning(think)) {
    note(unfinished_reasoning(reader, *result));
  }
  if (result->finish == FinishReason::kCancelled) return Failure(Error{ErrorCode::kCancelled, ""});
  return {};
}

}  // namespace

void add_describe(App& app, Action& action) {
  App* command = app.add_subcommand("describe", "answer about images");
  command->footer(
      R"(MODEL must be one that reads images: Qwen3.5, Gemma 3 or Gemma 4. Files are PNG, JPEG or WebP;
others are to be converted first, as by `magick photo.heic photo.jpg`.
Examples:
  tokamak describe org/name photo.jpg
  tokamak describe path/to/model receipt.png -p "What is the total?" -n 20 --greedy
  tokamak describe path/to/model before.png after.png -p "What has changed?"
  tokamak describe path/to/model scan.png -p "Read the text." --megapixels 4    finer, slower)");
  auto flags = std::make_shared<DescribeFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  flags->model.add_projector(*command);
  command->extra_words("a question is given by -p TEXT");
  command
      ->add_option("IMAGE", flags->images,
                   "files of images, in the order of the question; - is standard input")
      ->required()
      ->check(not_empty("the path of a file"));
  Option* prompt =
      command->add_option("-p,--prompt", flags->prompt, "what to answer")->capture_default_str();
  command->add_option("-f,--file", flags->file, "a file or pipe with what to answer")
      ->type_name("FILE")
      ->check(not_empty("the path of a file, or -"))
      ->excludes(prompt);
  command->add_option("-sys,--system", flags->system, "what the model is told first");
  add_chat_template(*command, flags->chat_template);
  flags->think.add(*command, nullptr);
  command
      ->add_option("--megapixels", flags->megapixels,
                   "larger images are made smaller, to this; one takes up to 1,024 tokens")
      ->capture_default_str()
      ->check(in_range(0.01, 16.0));
  flags->sampling.add(*command);
  command->add_flag("--json", flags->json, "one JSON object instead of streamed text");
  command->callback([flags, &action] { action = [flags] { return describe(*flags); }; });
}

}  // namespace tokamak::cli
