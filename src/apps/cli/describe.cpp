#include "apps/cli/chat_template_choice.h"
#include "apps/cli/command.h"
#include "engine/image_files.h"

namespace tokamak::cli {
namespace {

struct DescribeFlags {
  ModelFlags model;
  SamplingFlags sampling;
  std::vector<std::string> images;
  std::string prompt = "Describe the image.", system, chat_template;
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

Json result_json(const DescribeFlags& flags, const Generation& result) {
  Json::Array images(flags.images.begin(), flags.images.end());
  Json out;
  out.set("images", std::move(images)).set("prompt", flags.prompt).set("text", result.text);
  out.set("tokens", to_json(result.ids)).set("finish", std::string(finish_name(result.finish)));
  out.set("seed", result.seed).set("prompt_tokens", result.prompt_tokens);
  return out;
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

Result<void> describe(const DescribeFlags& flags) {
  // Whatever is wrong with a file shows before a model is loaded.
  std::vector<Image> images;
  for (const std::string& path : flags.images) {
    TOK_TRY(Image image, image_of_file(path));
    images.push_back(std::move(image));
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
  TOK_TRY(const std::string prompt,
          render_chat(engine->files(), variables_of(flags), choice.jinja));
  AnswerWaiting waiting(images.size() == 1 ? "encoding the image" : "encoding the images",
                        compiles_while_running(*engine));
  Result<void> printed;
  const auto show = [&](std::string_view text) {
    if (printed && !flags.json) printed = print(text);
  };
  GenerationCallbacks callbacks;
  callbacks.cancelled = [&] { return interrupted() || !printed; };
  callbacks.text = show;
  callbacks.token = [&](uint32_t, const Logprobs*) {
    when_interrupted(OnInterrupt::kStop);
    waiting.token();
  };
  const Result<Generation> result = [&]() -> Result<Generation> {
    Request request{.params = params, .callbacks = callbacks};
    TOK_TRY(request.images, encoded_images(*engine, images));
    TOK_TRY(request.prompt, engine->encode_with_images(prompt, request.images));
    waiting.read_prompt();
    return engine->generate(std::move(request));
  }();
  waiting.end();
  if (!result) return Failure(result.error().within(engine->files().name));
  show("\n");
  if (flags.json) printed = print(result_json(flags, *result).dump() + "\n");
  TOK_TRY(printed);
  if (result->finish == FinishReason::kCancelled) return Failure(Error{ErrorCode::kCancelled, ""});
  return {};
}

}  // namespace

void add_describe(App& app, Action& action) {
  App* command = app.add_subcommand("describe", "answer about images");
  command->footer(
      R"(MODEL must be one that reads images: Qwen3.5, Gemma 3 or Gemma 4. Files are PNG, JPEG or WebP.
Examples:
  tokamak describe org/name photo.jpg
  tokamak describe path/to/model receipt.png -p "What is the total?" -n 20 --greedy
  tokamak describe path/to/model before.png after.png -p "What has changed?"
  tokamak describe path/to/model scan.png -p "Read the text." --megapixels 4    finer, slower)");
  auto flags = std::make_shared<DescribeFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  command->extra_words("a question is given by -p TEXT");
  command->add_option("IMAGE", flags->images, "files of images, in the order of the question")
      ->required()
      ->check(not_empty("the path of a file"));
  command->add_option("-p,--prompt", flags->prompt, "what to answer")->capture_default_str();
  command->add_option("-sys,--system", flags->system, "what the model is told first");
  add_chat_template(*command, flags->chat_template);
  command
      ->add_option("--megapixels", flags->megapixels,
                   "larger images are made smaller, to this; one takes up to 1,024 tokens")
      ->capture_default_str()
      ->check(Range(0.01, 16.0));
  flags->sampling.add(*command);
  command->add_flag("--json", flags->json, "one JSON object instead of streamed text");
  command->callback([flags, &action] { action = [flags] { return describe(*flags); }; });
}

}  // namespace tokamak::cli
