#include "download/listing.h"

#include "download/digest.h"
#include "formats/safetensors.h"
#include "hub/repo_files.h"

namespace tokamak::download {
namespace {

constexpr uint64_t kMaxListingBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxSmallBytes = uint64_t{256} << 20;

}  // namespace

Result<hub::RepoListing> fetch_listing(Fetcher& fetcher) {
  const hub::Settings& settings = fetcher.settings();
  if (settings.offline) {
    return invalid_input(
        "HF_HUB_OFFLINE is set, so nothing is fetched from {}; `tokamak list` shows the models "
        "that "
        "are there.",
        settings.endpoint);
  }
  const std::string url = fetcher.listing_url();
  TOK_TRY(const std::string text, fetcher.text(url, fetcher.name().repo, kMaxListingBytes));
  auto listing = hub::parse_repo_reply(text);
  if (!listing) {
    return invalid_input("{}: {} answers with a list of files that is not usable: {}.",
                         fetcher.name().repo, host_of(url), listing.error().message);
  }
  listing->repo = fetcher.name().repo;
  return listing;
}

Result<std::string> fetch_small(Fetcher& fetcher, const hub::RepoListing& listing,
                                const hub::RepoFile& file) {
  if (file.size > kMaxSmallBytes) {
    return invalid_input("{}: {} has {} bytes, at most {} are expected.", fetcher.name().repo,
                         file.path, file.size, kMaxSmallBytes);
  }
  std::string text;
  if (file.size > 0) {
    TOK_TRY(text, fetcher.bytes(fetcher.file_url(file.path, listing.commit), file.path,
                                {0, file.size}, file.size));
  }
  Digest digest = file.large() ? Digest::sha256() : Digest::git_blob(file.size);
  digest.add(std::as_bytes(std::span(text)));
  if (digest.hex() != file.hash) {
    return invalid_input("{}: {} arrived with another hash than the hub says; try again.",
                         fetcher.name().repo, file.path);
  }
  return text;
}

Result<std::vector<hub::RepoFile>> choose_files(Fetcher& fetcher, const hub::RepoListing& listing) {
  const hub::ModelName& name = fetcher.name();
  hub::LookedUp looked_up;
  for (const std::string& path : hub::files_to_look_up(listing, name.choice)) {
    TOK_TRY(const std::string text, fetch_small(fetcher, listing, *listing.find(path)));
    if (path == "modules.json") {
      auto folders = hub::parse_modules(text);
      if (!folders) return Failure(folders.error().within(name.repo + ": " + path));
      looked_up.folders = *std::move(folders);
    } else {
      TOK_TRY(auto index, parse_safetensors_index(name.repo + ": " + path, text));
      looked_up.shards = std::move(index.shards);
    }
  }
  auto files = hub::needed_files(listing, name.choice, looked_up);
  if (!files) return Failure(files.error().within(name.repo));
  return files;
}

}  // namespace tokamak::download
