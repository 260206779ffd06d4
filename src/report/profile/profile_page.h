// A profile to look at: one page that carries everything it shows, and a trace for viewers of
// Chrome's format.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "base/embedded_file.h"
#include "report/bench/roofline.h"
#include "report/profile/profile.h"

namespace tokamak {

/// The marks of a page beside the measurements; "" is left out.
struct PageOrigin {
  std::string date, version, command;
};

/// The layer that a weight or a state belongs to: 3 of "layers.3.mlp.down_proj.weight" and "kv.3".
std::optional<uint32_t> layer_of(std::string_view name);

/// The parts of the page, in src/report/page.
std::span<const EmbeddedFile> page_files();

/// The data of the page, as its script reads it: the steps, the graph before and after fusion, the
/// buffers, the kernels' texts.
Result<Json> page_data(const Engine& engine, const Profile& profile, const Roofline& roofline,
                       const PageOrigin& origin);

/// A page of HTML that needs nothing beside itself.
std::string profile_page(const Json& data);

/// An object with "traceEvents": the launches one after the other, in microseconds; each rank has a
/// lane.
Json profile_trace(const Engine& engine, const Profile& profile);

}  // namespace tokamak
