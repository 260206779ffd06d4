// The work of `tokamak tune`: it opens a model, tunes it, keeps the results and shows them.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tune/tune.h"

namespace tokamak {

struct TuneReport {
  std::string model;
  DeviceInfo device;
  std::vector<TunedProblem> problems;  // in the order of the plan's steps
  double seconds = 0;
  std::string kept_in;  // the file; "": nowhere
};

std::string tune_text(const TuneReport& report);
Json tune_json(const TuneReport& report);

/// Opens the model, tunes it, keeps the result beside that of earlier models. Native programs only.
/// Errors: as of opening; the CPU reference (kUnsupported), whose one kernel an op needs no choice.
Result<TuneReport> tune(const OpenOptions& open, const TuneOptions& options);

}  // namespace tokamak
