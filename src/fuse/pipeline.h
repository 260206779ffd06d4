// The passes, in the order in which they run.
#pragma once
#include <set>
#include <span>
#include <string>

#include "fuse/pass.h"

namespace tokamak::fuse {

std::span<const Pass> passes();

/// Names of passes that shall not run: what --disable-pass collects.
using DisabledPasses = std::set<std::string, std::less<>>;

/// How often each pass replaced something, in pipeline order. Errors: a disabled name that is no
/// pass's, listing the names.
Result<std::vector<uint32_t>> run_pipeline(Graph& graph, Steps steps,
                                           const DisabledPasses& disabled = {},
                                           const Target& target = {});

/// The graph for steps of one token: its last row is its only one, so that last_row disappears.
Graph for_one_token(Graph graph);

/// The graph with the choice of the next token after its logits; its result are the chosen ids, of
/// which it keeps the last kChosenIds. REQUIRES: for one token.
inline constexpr uint32_t kChosenIds = 64;
Graph with_argmax(Graph graph);

/// The graph with the list of the most probable tokens after its logits, which is its result.
Graph with_top_tokens(Graph graph);

/// The same, with a token drawn from the list; its result are the last kSampledLists lists, each
/// with its token. REQUIRES: for one token.
inline constexpr uint32_t kSampledLists = 8;
Graph with_list(Graph graph);

}  // namespace tokamak::fuse
