#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct TokenizeFlags {
  std::string model;
  bool decode = false, no_special = false, skip_special = false;
};

Result<std::string> encode_line(const Tokenizer& tokenizer, const Json& line,
                                const TokenizeFlags& flags) {
  if (!line.is_string()) {
    return invalid_input("found {}, expected a JSON string.", kind_name(line.kind()));
  }
  TOK_TRY(const std::vector<uint32_t> ids,
          tokenizer.encode(line.as_string(), {.add_special = !flags.no_special}));
  return to_json(ids).dump();
}

Result<std::string> decode_line(const Tokenizer& tokenizer, const Json& line,
                                const TokenizeFlags& flags) {
  if (!line.is_array()) {
    return invalid_input("found {}, expected a JSON array of token ids.", kind_name(line.kind()));
  }
  std::vector<uint32_t> ids;
  for (const Json& item : line.as_array()) {
    if (!item.is_integer() || item.as_integer() < 0) {
      return invalid_input("found the entry {}, expected a token id.", item.dump());
    }
    if (item.as_integer() >= tokenizer.vocab_size()) {
      return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", item.as_integer(),
                           tokenizer.vocab_size());
    }
    ids.push_back(uint32_t(item.as_integer()));
  }
  return Json(tokenizer.decode(ids, flags.skip_special)).dump();
}

Result<void> run(const TokenizeFlags& flags) {
  TOK_TRY(const std::string folder, find_model(flags.model));
  TOK_TRY(const ModelFiles files, read_text_files(folder));
  TOK_TRY(const Tokenizer tokenizer, make_tokenizer(files));
  TOK_TRY(const std::string text, read_stdin());
  size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::string where = fmt::format("line {} of standard input", ++number);
    auto json = Json::parse(line);
    if (!json) return Failure(json.error().within(where));
    auto out =
        flags.decode ? decode_line(tokenizer, *json, flags) : encode_line(tokenizer, *json, flags);
    if (!out) return Failure(out.error().within(where));
    TOK_TRY(print(*out + "\n"));
  }
  return {};
}

}  // namespace

void add_tokenize(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("tokenize", "text to token ids and back, line by line");
  command->footer(
      R"(Reads JSON strings, one per line, and prints JSON arrays; --decode the other way.
Examples:
  echo '"Once upon a time"' | tokamak tokenize path/to/model
  echo '[2, 17, 42]' | tokamak tokenize path/to/model --decode)");
  auto flags = std::make_shared<TokenizeFlags>();
  command
      ->add_option("MODEL", flags->model,
                   "folder with tokenizer.json, .gguf file or org/name; the built-in model "
                   "without")
      ->check(not_empty("a folder, a .gguf file or org/name"));
  CLI::Option* decode = command->add_flag("--decode", flags->decode, "from ids to text");
  command
      ->add_flag("--no-special", flags->no_special,
                 "without what the post-processor adds; not with --decode")
      ->excludes(decode);
  command
      ->add_flag("--skip-special", flags->skip_special, "with --decode: leave out special tokens")
      ->needs(decode);
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
