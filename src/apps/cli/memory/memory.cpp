// tokamak memory: what documents say, found again. Here: what needs no model.
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "apps/cli/line/output_file.h"
#include "apps/cli/memory/memory_flags.h"
#include "base/system/path_text.h"
#include "base/table.h"
#include "memory/transfer.h"

namespace tokamak::cli {
namespace {

struct ListFlags {
  std::string store;
  FilterFlags filter;
  bool json = false;
};

Result<void> run_list(const ListFlags& flags) {
  TOK_TRY(const memory::Filter filter, flags.filter.filter());
  TOK_TRY(const memory::Store store, open_store(flags.store));
  TOK_TRY(const std::vector<memory::Document> documents, store.documents(filter));
  Table table;
  table.column("id", "id", Table::Align::kRight).column("added", "added");
  table.column("chunks", "chunks", Table::Align::kRight);
  table.column("size", "bytes", Table::Align::kRight).column("source", "source");
  table.column("title", "title").column("", "meta");
  for (const memory::Document& document : documents) {
    table.row({Cell(uint64_t(document.id)), Cell(time_text(document.added), document.added),
               Cell(document.chunks), bytes_cell(document.bytes), Cell(document.source),
               Cell(document.title), Cell(std::string(), document.meta)});
  }
  if (flags.json) return print(table.json().dump(1) + "\n");
  TOK_TRY(print(table.text(kScreenColumns)));
  TOK_TRY(const std::optional<memory::Model> model, store.model());
  if (model) note(fmt::format("{}, vectors of {}\n", store.path(), model->name));
  return {};
}

struct ForgetFlags {
  std::string store;
  std::vector<std::string> ids;
  FilterFlags filter;
  bool all = false, yes = false;
};

Result<void> run_forget(const ForgetFlags& flags) {
  TOK_TRY(memory::Filter filter, flags.filter.filter());
  for (const std::string& word : flags.ids) {
    int64_t id = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), id);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size() || id < 0) {
      return fail(ErrorCode::kUsage,
                  "ID is \"{}\", expected numbers as `tokamak memory list` shows them.", word);
    }
    filter.ids.push_back(id);
  }
  if (filter.is_empty() && !flags.all) {
    return fail(ErrorCode::kUsage,
                "Nothing says what to forget: ID, --source, --since, --before, --meta or --all.");
  }
  if (!filter.is_empty() && flags.all) {
    return fail(ErrorCode::kUsage, "--all means every document; it goes without other choices.");
  }
  TOK_TRY(const memory::Store store, open_store(flags.store));
  for (const int64_t id : filter.ids) {
    TOK_TRY(const bool is_there, store.has_document(id));
    if (!is_there) return invalid_input("There is no document {} in {}.", id, store.path());
  }
  TOK_TRY(const std::vector<memory::Document> found, store.documents(filter));
  const std::string what = counted(found.size(), "document") + " of " + store.path();
  if (!flags.yes && !found.empty()) {
    if (!stdin_is_terminal()) {
      return fail(ErrorCode::kUsage, "Pass --yes to forget {}.", what);
    }
    for (const memory::Document& one : found) {
      note(fmt::format("  {}  {}\n", one.id, one.source.empty() ? one.title : one.source));
    }
    if (!agreed("forget " + what, false)) {
      note("Nothing was forgotten.\n");
      return {};
    }
  }
  TOK_TRY(const uint64_t count, store.forget(filter));
  return print(fmt::format("forgot {}\n", counted(count, "document")));
}

struct ExportFlags {
  std::string store, file;
  FilterFlags filter;
};

Result<void> run_export(const ExportFlags& flags) {
  TOK_TRY(const memory::Filter filter, flags.filter.filter());
  TOK_TRY(check_output(flags.file));
  TOK_TRY(const memory::Store store, open_store(flags.store));
  std::string all;
  const bool is_file = !flags.file.empty() && flags.file != "-";
  TOK_TRY(memory::export_lines(store, filter, [&](std::string_view line) -> Result<void> {
    if (!is_file) return print(std::string(line) + "\n");
    all.append(line).append("\n");
    return {};
  }));
  return is_file ? write_output(flags.file, all) : Result<void>();
}

struct ImportFlags {
  std::string store, file;
};

Result<void> run_import(const ImportFlags& flags) {
  std::ifstream file;
  const bool is_file = !flags.file.empty() && flags.file != "-";
  if (is_file) {
    file.open(path_of(flags.file));
    if (!file) return invalid_input("{}: The file cannot be read.", flags.file);
  }
  std::istream& lines = is_file ? file : std::cin;
  TOK_TRY(const std::string path, store_path(flags.store));
  const bool is_new = !file_exists(path);
  const auto done = [&]() -> Result<memory::Imported> {
    TOK_TRY(const memory::Store store, memory::Store::open_or_create(path));
    return memory::import_lines(store, [&]() -> std::optional<std::string> {
      std::string line;
      if (!std::getline(lines, line)) return std::nullopt;
      return line;
    });
  }();
  if (!done) {
    std::error_code ignored;
    if (is_new) std::filesystem::remove(path_of(path), ignored);
    return Failure(done.error().within(is_file ? flags.file : "standard input"));
  }
  return print(fmt::format("{}: {} imported, {} already there\n", path,
                           counted(done->added, "document"), done->known));
}

}  // namespace

void add_memory_list(App& memory, Action& action) {
  App* command = memory.add_subcommand("list", "the documents of the store");
  command->footer(R"(Examples:
  tokamak memory list
  tokamak memory list --since 7d --json)");
  auto flags = std::make_shared<ListFlags>();
  command->add_flag("--json", flags->json, "a list of objects instead of a table");
  flags->filter.add(*command);
  add_store(*command, flags->store);
  command->callback([flags, &action] { action = [flags] { return run_list(*flags); }; });
}

void add_memory_forget(App& memory, Action& action) {
  App* command = memory.add_subcommand("forget", "delete documents, without a trace in the file");
  command->footer(
      R"(The file is written anew, so that no byte of the texts stays in it. Copies elsewhere (backups,
exports, snapshots of the file system) are not touched.
Examples:
  tokamak memory forget 12 13
  tokamak memory forget --source '*/old/*' --yes
  tokamak memory forget --before 365d                what is older than a year)");
  auto flags = std::make_shared<ForgetFlags>();
  command->add_option("ID", flags->ids, "documents, as `tokamak memory list` numbers them");
  command->add_flag("--all", flags->all, "every document");
  command->add_flag("-y,--yes", flags->yes, "do not ask");
  flags->filter.add(*command);
  add_store(*command, flags->store);
  command->callback([flags, &action] { action = [flags] { return run_forget(*flags); }; });
}

void add_memory_export(App& memory, Action& action) {
  App* command = memory.add_subcommand("export", "the store as lines of JSON, vectors included");
  command->footer(R"(Examples:
  tokamak memory export backup.jsonl
  tokamak memory export | gzip > backup.jsonl.gz)");
  auto flags = std::make_shared<ExportFlags>();
  command->add_option("FILE", flags->file, "default: standard output");
  flags->filter.add(*command);
  add_store(*command, flags->store);
  command->callback([flags, &action] { action = [flags] { return run_export(*flags); }; });
}

void add_memory_import(App& memory, Action& action) {
  App* command = memory.add_subcommand("import", "what `tokamak memory export` has written");
  command->footer(
      R"(All of it or nothing. Ids stay as they were where nobody has them; documents that are there already
are left alone. A new store takes the model of the export.
Examples:
  tokamak memory import backup.jsonl --store restored.db
  zcat backup.jsonl.gz | tokamak memory import)");
  auto flags = std::make_shared<ImportFlags>();
  command->add_option("FILE", flags->file, "default: standard input");
  add_store(*command, flags->store);
  command->callback([flags, &action] { action = [flags] { return run_import(*flags); }; });
}

void add_memory(App& app, Action& action) {
  App* memory =
      app.add_subcommand("memory", "documents that are found again, for you and for chat");
  memory->footer(R"(Examples:
  tokamak memory add -m google/embeddinggemma-300m ~/notes
  tokamak memory search when do foxes sleep
  tokamak chat Qwen/Qwen3-0.6B --memory default     a chat that knows them

`tokamak memory COMMAND --help` explains a command.)");
  add_memory_add(*memory, action);
  add_memory_search(*memory, action);
  add_memory_recall(*memory, action);
  add_memory_list(*memory, action);
  add_memory_forget(*memory, action);
  add_memory_export(*memory, action);
  add_memory_import(*memory, action);
  add_memory_rebuild(*memory, action);
}

}  // namespace tokamak::cli
