#include <bit>
#include <deque>

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct EmbedFlags {
  ModelFlags model;
  std::vector<std::string> texts;
  std::string tokens, file, prompt_name, pooling;
  bool prompt_given = false, json = false, raw = false, truncate = false, no_normalize = false;
  bool sparse = false;
  uint32_t dimensions = 0;
};

struct Input {
  std::string text;
  std::vector<uint32_t> ids;  // instead of a text
  std::string where;          // for messages; "" for the only one
};

/// The texts to embed, one after the other: lines are read when it is their turn.
class Inputs {
 public:
  static Result<Inputs> open(const EmbedFlags& flags) {
    Inputs inputs;
    if (!flags.tokens.empty()) {
      TOK_TRY(std::vector<uint32_t> ids, parse_ids(flags.tokens));
      if (ids.empty()) return fail(ErrorCode::kUsage, "--tokens is empty, expected token ids.");
      inputs.given_.push_back({{}, std::move(ids), {}});
      return inputs;
    }
    for (const std::string& text : flags.texts) {
      const size_t number = inputs.given_.size() + 1;
      inputs.given_.push_back(
          {text, {}, flags.texts.size() == 1 ? "" : fmt::format("text {}", number)});
    }
    if (!inputs.given_.empty()) return inputs;
    if (flags.file.empty() && stdin_is_terminal()) note("One text per line, Ctrl-D at the end.\n");
    TOK_TRY(InputLines lines, InputLines::open(flags.file));
    inputs.lines_.emplace(std::move(lines));
    TOK_TRY(const bool has_some, inputs.read_line());
    if (!has_some) {
      return invalid_input("{} is empty, expected a text per line (or --prompt, --tokens).",
                           inputs.lines_->name());
    }
    return inputs;
  }

  /// Nothing after the last one.
  Result<std::optional<Input>> next() {
    if (lines_ && given_.empty()) TOK_TRY(read_line());
    if (given_.empty()) return std::nullopt;
    Input input = std::move(given_.front());
    given_.pop_front();
    return input;
  }
  /// How many there are; nothing where that shows at the end.
  std::optional<size_t> size() const {
    return lines_ ? std::nullopt : std::optional(given_.size());
  }

 private:
  Result<bool> read_line() {
    TOK_TRY(std::optional<std::string> line, lines_->next());
    if (!line) return false;
    TOK_TRY(lines_->check_utf8(*line));
    given_.push_back({*std::move(line), {}, lines_->where()});
    return true;
  }

  std::deque<Input> given_;
  std::optional<InputLines> lines_;
};

std::string shown(const EmbedFlags& flags, const Input& input, size_t index, size_t tokens,
                  const std::vector<float>& embedding) {
  if (flags.json) {
    Json json;
    json.set("index", uint64_t{index});
    if (input.ids.empty()) json.set("text", input.text);
    json.set("tokens", uint64_t{tokens}).set("embedding", to_json(embedding));
    return json.dump() + "\n";
  }
  std::string out;
  for (const float value : embedding) {
    if (flags.raw) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      for (int shift = 0; shift < 32; shift += 8) out += char(bits >> shift & 255);
    } else {
      out += fmt::format("{}{}", out.empty() ? "" : "\t", value);
    }
  }
  return flags.raw ? out : out + "\n";
}

/// The tokens of a text that have a weight, by their ids.
std::string shown(const EmbedFlags& flags, const Input& input, size_t index, size_t tokens,
                  const SparseVector& vector) {
  Json weights{Json::Object()};
  std::string out;
  for (const TokenWeight& one : vector) {
    weights.set(fmt::format("{}", one.id), double(one.weight));
    out += fmt::format("{}{}:{}", out.empty() ? "" : "\t", one.id, one.weight);
  }
  if (!flags.json) return out + "\n";
  Json json;
  json.set("index", uint64_t{index});
  if (input.ids.empty()) json.set("text", input.text);
  json.set("tokens", uint64_t{tokens}).set("sparse", std::move(weights));
  return json.dump() + "\n";
}

Result<void> run_embed(const EmbedFlags& flags) {
  if (flags.raw && stdout_is_terminal()) {
    return fail(ErrorCode::kUsage, "--raw writes bytes; send them into a file or a pipe.");
  }
  EmbedOptions options;
  if (flags.prompt_given) options.prompt = flags.prompt_name;
  if (flags.no_normalize) options.normalize = false;
  options.dimensions = flags.dimensions;
  options.truncate = flags.truncate;
  options.cancelled = interrupted;
  TOK_TRY(Inputs inputs, Inputs::open(flags));
  const std::optional<size_t> count = inputs.size();
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(const std::unique_ptr<Engine> engine, flags.model.open_encoder(flags.pooling));
  std::optional<Waiting> waiting("embedding");
  for (size_t i = 0;; ++i) {
    TOK_TRY(const std::optional<Input> input, inputs.next());
    if (!input) return {};
    const auto embedding = [&]() -> Result<std::string> {
      std::vector<uint32_t> ids = input->ids;
      if (ids.empty()) {
        TOK_TRY(ids, engine->embedding_ids(input->text, options));
      }
      if (flags.sparse) {
        TOK_TRY(const auto vectors, engine->embed_sparse(std::span(&ids, 1), options));
        return shown(flags, *input, i, ids.size(), vectors.front());
      }
      TOK_TRY(const std::vector<float> vector, engine->embed(ids, options));
      return shown(flags, *input, i, ids.size(), vector);
    }();
    if (!embedding) {
      const Error& error = embedding.error();
      return Failure(input->where.empty() ? error : error.within(input->where));
    }
    // Vectors on a terminal show how far it is.
    if (stdout_is_terminal()) waiting.reset();
    TOK_TRY(print(*embedding));
    if (!waiting) continue;
    waiting->say(count ? fmt::format("embedding: {} of {} texts", i + 1, *count)
                       : fmt::format("embedding: {} texts", i + 1));
  }
}

}  // namespace

void add_embed(App& app, Action& action) {
  App* command = app.add_subcommand("embed", "vectors of texts, for search and comparison");
  command->footer(
      R"(Each text gives one line of numbers with tabs between them. MODEL is an embedding model in the
layout of sentence-transformers (modules.json), such as Qwen3-Embedding or EmbeddingGemma. Its
vectors have unit length, so that the dot product of two is their cosine similarity.
Examples:
  tokamak embed path/to/model -p "a red fox" --prompt-name document
  tokamak embed path/to/model --prompt-name query --dimensions 256 --json < queries.txt
  tokamak embed path/to/model --raw < lines.txt > vectors.f32
  tokamak embed path/to/llama -p "a red fox" --pooling last      a model that generates text)");
  auto flags = std::make_shared<EmbedFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  command->extra_words("a text is given by -p TEXT");
  Option* texts =
      command->add_option("-p,--prompt,--text", flags->texts,
                          "a text (repeatable); without it, one per line of standard input");
  Option* tokens =
      command
          ->add_option("--tokens", flags->tokens,
                       "token ids instead, with nothing before them: 1,2,3 or @file with a JSON "
                       "array")
          ->type_name("IDS")
          ->check(not_empty("token ids as 1,2,3 or @file"))
          ->excludes(texts);
  command
      ->add_option("-f,--file", flags->file,
                   "a file or pipe with a text per line; - is standard input")
      ->type_name("FILE")
      ->check(not_empty("the path of a file, or -"))
      ->excludes(texts)
      ->excludes(tokens);
  Option* prompt_name = command->add_option("--prompt-name", flags->prompt_name,
                                            "what stands before each text: query, document or "
                                            "another of the model's prompts; \"\": none");
  prompt_name->type_name("NAME")->excludes(tokens);
  Option* dimensions =
      command
          ->add_option("--dimensions", flags->dimensions,
                       "only the first N numbers, brought to unit length again (Matryoshka)")
          ->check(in_range(1, 1 << 20));
  Option* whole =
      command->add_flag("--no-normalize", flags->no_normalize, "keep the length of the vectors");
  Option* sparse = command->add_flag("--sparse", flags->sparse,
                                     "the weights of a text's tokens by their ids, id:weight, of a "
                                     "model that has some (BGE-M3)");
  sparse->excludes(dimensions)->excludes(whole);
  command->add_flag("--truncate", flags->truncate, "cut texts that are too long");
  command
      ->add_option("--pooling", flags->pooling,
                   "mean, last or cls: for a model without modules.json")
      ->type_name("KIND")
      ->check(one_of({"mean", "last", "cls"}));
  Option* json = command->add_flag("--json", flags->json,
                                   "one JSON object per text: index, text, tokens, embedding");
  command->add_flag("--raw", flags->raw, "32-bit floats, little end first, and nothing else")
      ->excludes(json)
      ->excludes(sparse);
  command->callback([flags, prompt_name, &action] {
    flags->prompt_given = prompt_name->count() > 0;
    action = [flags] { return run_embed(*flags); };
  });
}

}  // namespace tokamak::cli
