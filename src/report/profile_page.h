// A profile to look at: one page that carries everything it shows, and a trace for viewers of
// Chrome's format.
#pragma once
#include <span>
#include <string>

#include "base/embedded_file.h"
#include "report/profile.h"

namespace tokamak {

/// What the launches are compared with; see bench.h.
struct Floor {
  double bandwidth = 0;       // bytes per second
  double launch_seconds = 0;  // of one that computes next to nothing
};

/// The parts of the page, in src/engine/page.
std::span<const EmbeddedFile> page_files();

/// What the page shows, as its script reads it: the steps, the graph before and after fusion, the
/// buffers, the kernels' texts.
Result<Json> page_data(const Engine& engine, const Profile& profile, const Floor& floor);

/// A page of HTML that needs nothing beside itself.
std::string profile_page(const Json& data);

/// An object with "traceEvents": the launches one after the other, in microseconds.
Json profile_trace(const Engine& engine, const Profile& profile);

}  // namespace tokamak
