// Steps of one token far into a text: keys in more splits, so that there are workgroups enough even
// where one takes all heads that share a key head.
#pragma once
#include <optional>

#include "fuse/target.h"
#include "graph/graph.h"

namespace tokamak::fuse {

/// The fused graph of one token for long contexts; nothing where more splits gain nothing: heads
/// that share no key head, key heads too few for the device or too long, windows. A step of it
/// gives what one of `graph` gives, but for the order of sums.
std::optional<Graph> for_long_context(Graph graph, const Target& target = {});

}  // namespace tokamak::fuse
