#include "download/peek.h"

#include <algorithm>

#include "base/weight_files.h"
#include "download/listing.h"
#include "formats/safetensors.h"
#include "hub/repo_files.h"

namespace tokamak::download {
namespace {

constexpr uint64_t kPrefixBytes = 8;

/// The beginning of a file of which the rest stayed on the hub.
class HeaderSource final : public ByteSource {
 public:
  HeaderSource(std::string name, uint64_t size, std::string bytes)
      : ByteSource(std::move(name), size), bytes_(std::move(bytes)) {}

  Result<FileBytes> view(uint64_t offset, uint64_t length) const override {
    TOK_TRY(check_range(offset, length));
    if (offset + length > bytes_.size()) {
      return invalid_input("{}: Only the header was fetched; pull the model to read its weights.",
                           name());
    }
    return FileBytes(std::as_bytes(std::span(bytes_)).subspan(size_t(offset), size_t(length)));
  }

  Result<void> read(uint64_t offset, std::span<std::byte> out) const override {
    TOK_TRY(const auto bytes, view(offset, out.size()));
    std::ranges::copy(bytes, out.begin());
    return {};
  }

 private:
  std::string bytes_;
};

Result<std::shared_ptr<ByteSource>> fetch_header(Fetcher& fetcher, const std::string& commit,
                                                 const hub::RepoFile& file, uint64_t& fetched) {
  const std::string url = fetcher.file_url(file.path, commit);
  const std::string name = fetcher.name().repo + "/" + file.path;
  std::string bytes;
  if (file.size >= kPrefixBytes) {
    TOK_TRY(bytes, fetcher.bytes(url, file.path, {0, kPrefixBytes}, file.size));
    uint64_t length = 0;
    for (size_t i = kPrefixBytes; i-- > 0;) {
      length = length << 8 | static_cast<unsigned char>(bytes[i]);
    }
    // A length that does not fit is for the reader of the format to refuse.
    if (length > 0 && length <= kMaxSafetensorsHeaderBytes && length <= file.size - kPrefixBytes) {
      TOK_TRY(const std::string header,
              fetcher.bytes(url, file.path, {kPrefixBytes, kPrefixBytes + length}, file.size));
      bytes += header;
    }
  }
  fetched += bytes.size();
  return std::make_shared<HeaderSource>(name, file.size, std::move(bytes));
}

}  // namespace

std::string Peeked::text(const std::string& path) const {
  const auto at = texts.find(path);
  return at == texts.end() ? "" : at->second;
}

Result<Peeked> peek(const hub::Settings& settings, const hub::ModelName& name,
                    const std::function<void(const std::string&)>& looking_at,
                    const std::function<bool()>& cancelled) {
  Fetcher fetcher(settings, name, {.cancelled = cancelled, .notice = looking_at, .tick = {}});
  looking_at(name.text());
  TOK_TRY(const hub::RepoListing listing, fetch_listing(fetcher));
  if (!name.choice.empty()) {
    return unsupported("{}: GGUF files cannot be inspected remotely; `tokamak pull {}` fetches it.",
                       name.text(), name.text());
  }
  TOK_TRY(const std::vector<hub::RepoFile> files, choose_files(fetcher, listing));
  Peeked peeked;
  peeked.commit = listing.commit;
  constexpr std::string_view kTexts[] = {"config.json",
                                         "generation_config.json",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "chat_template.jinja",
                                         "quantize_config.json",
                                         "special_tokens_map.json",
                                         "added_tokens.json"};
  std::vector<std::shared_ptr<ByteSource>> sources;
  std::string index_text;
  for (const hub::RepoFile& file : files) {
    const bool template_file = file.path.starts_with("additional_chat_templates/");
    if (file.path == kWeightsIndex || template_file || std::ranges::count(kTexts, file.path) > 0) {
      looking_at(file.path);
      TOK_TRY(std::string text, fetch_small(fetcher, listing, file));
      (file.path == kWeightsIndex ? index_text : peeked.texts[file.path]) = std::move(text);
    } else if (file.path.ends_with(".gguf")) {
      return unsupported(
          "{}: GGUF files cannot be inspected remotely; `tokamak pull {}` fetches it.", name.text(),
          name.text());
    } else if (file.path.ends_with(".safetensors") && file.path.find('/') == file.path.npos) {
      looking_at(file.path);
      TOK_TRY(sources.emplace_back(), fetch_header(fetcher, listing.commit, file, peeked.fetched));
    }
  }
  if (peeked.text("config.json").empty()) {
    return invalid_input("{} has no config.json; expected a model in the Hugging Face layout.",
                         name.repo);
  }
  if (index_text.empty() && sources.size() == 1) {
    TOK_TRY(peeked.tensors, read_safetensors(std::move(sources.front()), peeked.unread));
    return peeked;
  }
  // Sorted by name, as the shards of the index are.
  const std::string index_name = name.repo + "/" + std::string(kWeightsIndex);
  TOK_TRY(const SafetensorsIndex index, parse_safetensors_index(index_name, index_text));
  if (sources.size() != index.shards.size()) {
    return unsupported("{}: Not all of its files are safetensors.", index_name);
  }
  TOK_TRY(peeked.tensors,
          read_safetensors_shards(index_name, index, std::move(sources), peeked.unread));
  return peeked;
}

}  // namespace tokamak::download
