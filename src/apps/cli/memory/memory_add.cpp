// tokamak memory add, rebuild: what goes into a store.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "apps/cli/memory/memory_flags.h"
#include "apps/cli/memory/memory_models.h"
#include "base/ascii.h"
#include "base/system/path_text.h"
#include "memory/normalise.h"
#include "memory/writer.h"

namespace tokamak::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

struct SizeFlags {
  uint32_t tokens = 256, overlap = 32;

  void add(App& command) {
    command
        .add_option("--chunk-tokens", tokens,
                    "most tokens of a chunk, which is what is found as one")
        ->check(in_range(8, 1 << 16))
        ->capture_default_str();
    command.add_option("--overlap", overlap, "most tokens that a chunk has of the one before it")
        ->check(in_range(0, 1 << 15))
        ->capture_default_str();
  }
  Result<memory::ChunkSizes> sizes() const {
    if (2 * overlap <= tokens) return memory::ChunkSizes{.tokens = tokens, .overlap = overlap};
    return fail(ErrorCode::kUsage,
                "--overlap is {}, expected at most half of --chunk-tokens, which is {}.", overlap,
                tokens);
  }
};

struct AddFlags {
  std::string store, source;
  std::vector<std::string> files, texts, meta, rules, kept;
  SizeFlags sizes;
  EmbedderFlags embedder;
  bool json = false;
};

struct Input {
  std::string file;  // to be read; "" where there is a text
  std::string text, source;
  bool is_of_folder = false;
};

struct Inputs {
  std::vector<Input> texts;
  size_t other_kinds = 0;  // files of folders that are no texts by their names
  size_t closed = 0;       // folders that may not be read
};

bool is_text_file(const fs::path& path) {
  const std::string ending = ascii_lower(text_of(path.extension()));
  return ending == ".md" || ending == ".markdown" || ending == ".txt";
}

/// Adds the text files below a folder, but what is hidden. Folders that may not be read are noted.
Result<void> add_folder(const fs::path& folder, Inputs& inputs) {
  std::vector<std::string> found;
  std::error_code failed;
  auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied,
                                             failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code ignored;
    const bool is_hidden = text_of(at->path().filename()).starts_with('.');
    if (is_hidden && at->is_directory(ignored)) at.disable_recursion_pending();
    if (!is_hidden && at->is_directory(ignored)) {
      const fs::directory_iterator own(at->path(), ignored);
      if (ignored) note(fmt::format("{}: {}.\n", text_of(at->path()), ignored.message()));
      inputs.closed += ignored ? 1 : 0;
    }
    if (is_hidden || !at->is_regular_file(ignored)) continue;
    if (is_text_file(at->path())) {
      found.push_back(text_of(at->path()));
    } else {
      ++inputs.other_kinds;
    }
  }
  if (failed) return invalid_input("{}: {}.", text_of(folder), failed.message());
  if (found.empty()) {
    return invalid_input("{} has no files that end in .md, .markdown or .txt.", text_of(folder));
  }
  std::ranges::sort(found);
  for (std::string& file : found) inputs.texts.push_back({std::move(file), "", "", true});
  return {};
}

Result<Inputs> find_inputs(const AddFlags& flags) {
  Inputs all;
  std::vector<Input>& inputs = all.texts;
  for (const std::string& text : flags.texts) inputs.push_back({"", text, flags.source});
  for (const std::string& file : flags.files) {
    if (is_directory(file)) {
      TOK_TRY(add_folder(path_of(file), all));
    } else {
      inputs.push_back({file, "", ""});
    }
  }
  if (inputs.empty()) inputs.push_back({"-", "", ""});
  if (!flags.source.empty() && inputs.size() != 1) {
    return fail(ErrorCode::kUsage, "--source names one text, but there are {}.", inputs.size());
  }
  for (Input& input : inputs) {
    if (input.file == "-" || !flags.source.empty()) {
      input.source = flags.source;
    } else if (!input.file.empty()) {
      std::error_code failed;
      const fs::path path = fs::canonical(path_of(input.file), failed);
      input.source = failed ? input.file : text_of(path);
    }
    input.source = memory::normalise(input.source);
  }
  return all;
}

struct OtherKind {
  std::string_view mark, name, fix;
};

/// The kinds of files that people have beside texts, by their first bytes.
constexpr OtherKind kOtherKinds[] = {
    {"%PDF-", "a PDF", "pdftotext FILE - | tokamak memory add --source FILE"},
    {"PK\x03\x04", "a ZIP file, as .docx, .odt and .epub are",
     "pandoc -t plain FILE | tokamak memory add --source FILE"},
    {"{\\rtf", "RTF", "pandoc -f rtf -t plain FILE | tokamak memory add --source FILE"},
    {"\xd0\xcf\x11\xe0", "a document of an old Office",
     "libreoffice --convert-to txt:Text:UTF8 FILE"},
    {"\x1f\x8b", "compressed by gzip", "zcat FILE | tokamak memory add --source FILE"},
    {"\xff\xfe", "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | tokamak memory add --source FILE"},
    {"\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | tokamak memory add --source FILE"},
};

Result<void> check_kind(std::string_view bytes) {
  for (const OtherKind& kind : kOtherKinds) {
    if (!bytes.starts_with(kind.mark)) continue;
    return invalid_input("The file is {}, expected text. Convert it first: {}", kind.name,
                         kind.fix);
  }
  return memory::check_text(bytes);
}

std::string name_of(const Input& input) {
  return !input.source.empty() ? input.source : input.file == "-" ? "standard input" : "text";
}

Result<std::string> read_bytes(const Input& input) {
  if (input.file.empty()) return input.text;
  if (input.file == "-") {
    if (stdin_is_terminal()) note("The text, Ctrl-D at the end.\n");
    return read_stdin();
  }
  return read_input(input.file, kMaxFileBytes);
}

Result<std::string> read(const Input& input) {
  TOK_TRY(std::string bytes, read_bytes(input));
  if (const auto status = check_kind(bytes); !status) {
    return Failure(status.error().within(name_of(input)));
  }
  return bytes;
}

Result<memory::Redactor> redactor(const AddFlags& flags, const memory::Store& store) {
  std::vector<memory::Secret> kept;
  for (const std::string& name : flags.kept) {
    const auto found = std::ranges::find(memory::kSecretNames, name);
    kept.push_back(memory::Secret(found - memory::kSecretNames.begin()));
  }
  // A mistake in an expression shows before it is kept.
  TOK_TRY(memory::Redactor::make(flags.rules));
  for (const std::string& rule : flags.rules) TOK_TRY(store.add_rule(rule));
  TOK_TRY(const std::vector<std::string> rules, store.rules());
  return memory::Redactor::make(rules, kept);
}

std::string redacted_text(const std::array<uint32_t, 4>& counts) {
  std::string out;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "; redacted: " : ", ", counts[i],
                       memory::kSecretNames[i]);
  }
  return out;
}

Result<void> tell(const memory::Added& added, const std::string& name, bool json) {
  constexpr std::array<std::string_view, 3> kKinds = {"new", "replaced", "unchanged"};
  const std::string_view kind = kKinds[size_t(added.kind)];
  if (!json) {
    return print(fmt::format("{}: document {}, {}{}{}\n", name, added.id, kind,
                             added.chunks == 0 ? "" : ", " + counted(added.chunks, "chunk"),
                             redacted_text(added.redacted)));
  }
  Json redacted{Json::Object()};
  for (size_t i = 0; i < added.redacted.size(); ++i) {
    redacted.set(std::string(memory::kSecretNames[i]), added.redacted[i]);
  }
  const Json line(Json::Object{{"id", added.id},
                               {"source", name},
                               {"status", kind},
                               {"chunks", uint64_t(added.chunks)},
                               {"redacted", std::move(redacted)}});
  return print(line.dump() + "\n");
}

/// A line of progress on a terminal; false when there was a Ctrl-C.
memory::Progress progress_of(const std::string& what) {
  return [what, start = now_seconds()](size_t done, size_t all) {
    if (stderr_is_terminal() && now_seconds() > start) {
      note(done < all ? fmt::format("\r\033[K{}: {} of {}", what, done, all) : "\r\033[K");
    }
    return !interrupted();
  };
}

/// The counts of texts by their outcome, for a line at the end.
struct Summary {
  size_t added = 0, unchanged = 0, empty = 0, failed = 0, other_kinds = 0;

  std::string text() const {
    std::string out = fmt::format("{} added", added);
    if (unchanged > 0) out += fmt::format(", {} unchanged", unchanged);
    if (empty > 0) out += fmt::format(", {} empty", empty);
    if (failed > 0) out += fmt::format(", {} not read", failed);
    if (other_kinds > 0) out += fmt::format(", {} of other kinds", other_kinds);
    return out;
  }
};

/// Adds one text after the other; those that cannot be read are noted and left out. Errors: what
/// would stop every text.
Result<Summary> add_all(const Inputs& inputs, const AddFlags& flags, const Json& meta,
                        memory::Writer& writer, bool& has_replaced) {
  Summary summary{.failed = inputs.closed, .other_kinds = inputs.other_kinds};
  const bool is_one = inputs.texts.size() == 1 && !inputs.texts[0].is_of_folder;
  for (const Input& input : inputs.texts) {
    const std::string name = name_of(input);
    auto text = read(input);
    if (!text && is_one) return Failure(text.error());
    if (!text) {
      note(fmt::format("{}\n", text.error().message));
      ++summary.failed;
      continue;
    }
    if (!is_one && memory::is_blank(*text)) {
      note(fmt::format("{}: The text is empty.\n", name));
      ++summary.empty;
      continue;
    }
    const auto added = writer.add(
        {.source = input.source, .text = *std::move(text), .added = now_seconds(), .meta = meta},
        progress_of(name));
    if (!added)
      return Failure(added.error().message.empty() ? added.error() : added.error().within(name));
    has_replaced = has_replaced || added->kind == memory::Added::Kind::kReplaced;
    ++(added->kind == memory::Added::Kind::kUnchanged ? summary.unchanged : summary.added);
    TOK_TRY(tell(*added, name, flags.json));
  }
  return summary;
}

Result<Summary> add_to(const std::string& path, const Inputs& inputs, const AddFlags& flags,
                       const memory::ChunkSizes& sizes, const Json& meta) {
  TOK_TRY(const memory::Store store, memory::Store::open_or_create(path));
  TOK_TRY(const memory::Redactor redactor, cli::redactor(flags, store));
  TOK_TRY(const OpenEmbedder open, flags.embedder.open(store));
  memory::Writer writer(store, open.embedder, redactor, sizes);
  TOK_TRY(writer.begin());
  bool has_replaced = false;
  TOK_TRY(const Summary summary, add_all(inputs, flags, meta, writer, has_replaced));
  if (has_replaced) TOK_TRY(store.erase_traces());
  return summary;
}

/// Removes a store that was made for texts of which none came into it.
void remove_without_documents(const std::string& path) {
  const auto has_documents = [&] {
    const auto store = memory::Store::open(path);
    if (!store) return false;
    const auto documents = store->documents({});
    return documents && !documents->empty();
  };
  if (has_documents()) return;
  std::error_code ignored;
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path_of(path + ending), ignored);
}

Result<void> run_add(const AddFlags& flags) {
  TOK_TRY(const Inputs inputs, find_inputs(flags));
  TOK_TRY(const memory::ChunkSizes sizes, flags.sizes.sizes());
  Json meta{Json::Object()};
  for (const std::string& one : flags.meta) {
    TOK_TRY(auto pair, parse_meta(one));
    meta.set(std::move(pair.first), std::move(pair.second));
  }
  TOK_TRY(const std::string path, store_path(flags.store));
  // A store that stays empty for a mistake is none that anybody wants.
  if (!file_exists(path) && flags.embedder.model().model().empty()) {
    return fail(ErrorCode::kUsage,
                "There is no store {} yet: -m MODEL names the embedding model that it is made for, "
                "such as google/embeddinggemma-300m or Qwen/Qwen3-Embedding-0.6B.",
                path);
  }
  when_interrupted(OnInterrupt::kStopSoon);
  const bool is_new = !file_exists(path);
  const auto summary = add_to(path, inputs, flags, sizes, meta);
  if (!summary) {
    if (is_new) remove_without_documents(path);
    return Failure(summary.error());
  }
  if (inputs.texts.size() > 1 || inputs.texts[0].is_of_folder) note(summary->text() + "\n");
  if (summary->failed == 0) return {};
  return invalid_input("{} could not be read; the lines above name {}.",
                       counted(summary->failed, "text"), summary->failed == 1 ? "it" : "them");
}

struct RebuildFlags {
  std::string store;
  SizeFlags sizes;
  EmbedderFlags embedder;
};

Result<void> run_rebuild(const RebuildFlags& flags) {
  TOK_TRY(const memory::ChunkSizes sizes, flags.sizes.sizes());
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(const memory::Store store, open_store(flags.store));
  TOK_TRY(const OpenEmbedder open, flags.embedder.open(store));
  TOK_TRY(const memory::Redactor redactor, memory::Redactor::make({}));
  memory::Writer writer(store, open.embedder, redactor, sizes);
  TOK_TRY(writer.rebuild(progress_of("rebuilt")));
  TOK_TRY(store.erase_traces());
  TOK_TRY(const std::vector<memory::Document> documents, store.documents({}));
  uint64_t chunks = 0;
  for (const memory::Document& document : documents) chunks += document.chunks;
  return print(fmt::format("{}: {}, {} with vectors of {}\n", store.path(),
                           counted(documents.size(), "document"), counted(chunks, "chunk"),
                           open.embedder.name));
}

}  // namespace

void add_memory_add(App& memory, Action& action) {
  App* command = memory.add_subcommand("add", "texts into the store: files, folders, words");
  command->footer(
      R"(A file that is added again takes the place of what it was; one that has not changed is left alone.
Keys and passwords, addresses of e-mail and numbers of cards become [REDACTED] before anything is
made of a text; how many is said, what they were is not kept anywhere.
Examples:
  tokamak memory add -m google/embeddinggemma-300m notes.md   the first time: with the model
  tokamak memory add ~/notes                                  every .md, .markdown and .txt below it
  tokamak memory add -t "The key is under the third pot." --source shed
  pdftotext report.pdf - | tokamak memory add --source report.pdf --meta year=2026
  tokamak memory add letters --redact 'AB-\d{6}' --keep email)");
  auto flags = std::make_shared<AddFlags>();
  command->add_option("FILE", flags->files,
                      "text or Markdown, or a folder; -, or none: standard input");
  command->add_option("-t,--text", flags->texts, "a text itself (repeatable)");
  command->add_option("--source", flags->source, "what to call the text instead of the file's path")
      ->type_name("NAME");
  command->add_option("--meta", flags->meta, "NAME=VALUE to find it by (repeatable)")
      ->type_name("NAME=VALUE");
  command
      ->add_option("--redact", flags->rules,
                   "a regular expression for what is secret, too; the store keeps it for all that "
                   "is added later (repeatable)")
      ->type_name("REGEX")
      ->check(not_empty("a regular expression"));
  command->add_option("--keep", flags->kept, "keys, email or cards: leave them in (repeatable)")
      ->type_name("KIND")
      ->check(one_of({"keys", "email", "cards"}));
  flags->sizes.add(*command);
  command->add_flag("--json", flags->json, "one JSON object per text");
  add_store(*command, flags->store);
  flags->embedder.add(*command);
  command->callback([flags, &action] { action = [flags] { return run_add(*flags); }; });
}

void add_memory_rebuild(App& memory, Action& action) {
  App* command = memory.add_subcommand("rebuild", "all chunks and vectors again, by another model");
  command->footer(
      R"(Every text is divided and embedded again. What is interrupted goes on with the same command.
Examples:
  tokamak memory rebuild -m Qwen/Qwen3-Embedding-0.6B
  tokamak memory rebuild --chunk-tokens 128                      smaller chunks by the same model)");
  auto flags = std::make_shared<RebuildFlags>();
  flags->sizes.add(*command);
  add_store(*command, flags->store);
  flags->embedder.add(*command);
  command->callback([flags, &action] { action = [flags] { return run_rebuild(*flags); }; });
}

}  // namespace tokamak::cli
