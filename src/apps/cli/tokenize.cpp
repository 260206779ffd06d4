#include "apps/cli/command.h"
#include "base/utf8.h"

namespace tokamak::cli {
namespace {

struct TokenizeFlags {
  std::string model, file;
  std::vector<std::string> texts;
  bool json = false, decode = false, no_special = false, skip_special = false;
};

Json pieces_json(const Tokenizer& tokenizer, std::span<const uint32_t> ids) {
  Json::Array list;
  for (const uint32_t id : ids) list.emplace_back(std::string(tokenizer.token(id).value_or("")));
  return list;
}

Result<std::string> encode_text(const Tokenizer& tokenizer, std::string_view text,
                                const TokenizeFlags& flags) {
  TOK_TRY(const std::vector<uint32_t> ids,
          tokenizer.encode(text, {.add_special = !flags.no_special}));
  if (!flags.json) return to_json(ids).dump();
  Json out;
  out.set("text", repair_utf8(text)).set("tokens", to_json(ids));
  out.set("pieces", pieces_json(tokenizer, ids));
  return out.dump();
}

/// A line is a JSON string, which may hold line ends, or else a text as it stands.
Result<std::string> encode_line(const Tokenizer& tokenizer, std::string_view line,
                                const TokenizeFlags& flags) {
  if (line.starts_with('"')) {
    const auto json = Json::parse(line);
    if (json && json->is_string()) return encode_text(tokenizer, json->as_string(), flags);
  }
  return encode_text(tokenizer, line, flags);
}

Result<std::string> decode_line(const Tokenizer& tokenizer, std::string_view line,
                                const TokenizeFlags& flags) {
  TOK_TRY(const Json json, Json::parse(line));
  if (!json.is_array()) {
    return invalid_input("found {}, expected a JSON array of token ids.", kind_name(json.kind()));
  }
  std::vector<uint32_t> ids;
  for (const Json& item : json.as_array()) {
    if (!item.is_integer() || item.as_integer() < 0) {
      return invalid_input("found the entry {}, expected a token id.", item.dump());
    }
    if (item.as_integer() >= tokenizer.vocab_size()) {
      return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", item.as_integer(),
                           tokenizer.vocab_size());
    }
    ids.push_back(uint32_t(item.as_integer()));
  }
  const std::string text = tokenizer.decode(ids, flags.skip_special);
  if (!flags.json) return Json(text).dump();
  Json out;
  out.set("text", text).set("tokens", to_json(ids)).set("pieces", pieces_json(tokenizer, ids));
  return out.dump();
}

Result<void> run_tokenize(const TokenizeFlags& flags) {
  TOK_TRY(const std::string folder, find_model(flags.model));
  TOK_TRY(const ModelFiles files, read_text_files(folder));
  TOK_TRY(const Tokenizer tokenizer, make_tokenizer(files));
  for (const std::string& text : flags.texts) {
    TOK_TRY(const std::string ids, encode_text(tokenizer, text, flags));
    TOK_TRY(print(ids + "\n"));
  }
  if (!flags.texts.empty()) return {};
  if (flags.file.empty() && stdin_is_terminal()) note("One text per line, Ctrl-D at the end.\n");
  TOK_TRY(InputLines lines, InputLines::open(flags.file));
  for (;;) {
    TOK_TRY(const std::optional<std::string> line, lines.next());
    if (!line) return {};
    auto out =
        flags.decode ? decode_line(tokenizer, *line, flags) : encode_line(tokenizer, *line, flags);
    if (!out) return Failure(out.error().within(lines.where()));
    TOK_TRY(print(*out + "\n"));
  }
}

}  // namespace

void add_tokenize(App& app, Action& action) {
  App* command = app.add_subcommand("tokenize", "text to token ids and back, line by line");
  command->group(kCheckingCommands);
  command->footer(
      R"(Reads a text per line, as it stands or as a JSON string, and prints JSON arrays; --decode reads
arrays and prints JSON strings.
Examples:
  tokamak tokenize -p "Once upon a time"
  tokamak tokenize path/to/model < lines.txt
  echo '[2, 17, 42]' | tokamak tokenize path/to/model --decode)");
  command->extra_words("a text is given by -p TEXT");
  auto flags = std::make_shared<TokenizeFlags>();
  add_model(*command, flags->model,
            "folder with tokenizer.json, .gguf file or org/name; the built-in model without");
  Option* texts = command->add_option("-p,--prompt", flags->texts,
                                      "a text (repeatable); without it, standard input is read");
  command
      ->add_option("-f,--file", flags->file,
                   "a file or pipe with a text per line; - is standard input")
      ->type_name("FILE")
      ->check(not_empty("the path of a file, or -"))
      ->excludes(texts);
  command->add_flag("--json", flags->json,
                    "one JSON object per text: text, tokens, and how the vocabulary spells each");
  Option* decode =
      command->add_flag("--decode", flags->decode, "from ids to text")->excludes(texts);
  command
      ->add_flag("--no-special", flags->no_special,
                 "without what the post-processor adds; not with --decode")
      ->excludes(decode);
  command
      ->add_flag("--skip-special", flags->skip_special, "with --decode: leave out special tokens")
      ->needs(decode);
  command->callback([flags, &action] { action = [flags] { return run_tokenize(*flags); }; });
}

}  // namespace tokamak::cli
