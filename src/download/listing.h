// Asking a hub what a repository holds and which of it a model needs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "download/fetch.h"
#include "hub/reply.h"

namespace tokamak::download {

/// Errors name the repository.
Result<hub::RepoListing> fetch_listing(Fetcher& fetcher);

/// A small file whole, with its hash compared.
Result<std::string> fetch_small(Fetcher& fetcher, const hub::RepoListing& listing,
                                const hub::RepoFile& file);

/// Reads the index and modules.json where there are some, and chooses.
Result<std::vector<hub::RepoFile>> choose_files(Fetcher& fetcher, const hub::RepoListing& listing);

}  // namespace tokamak::download
