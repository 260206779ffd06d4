// Verdicts of the self-test where there are no files: the host keeps them as one text per device.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "tune/self_test.h"

namespace tokamak {

/// Small texts by name, kept between runs.
struct NoteStore {
  std::function<std::optional<std::string>(std::string_view name)> read;
  std::function<void(std::string_view name, std::string_view text)> write;
};

/// Tests what `notes` say nothing of, and keeps the verdicts there. Notes that are damaged, or of
/// another device or other kernels, are as good as none.
Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const NoteStore& notes);

}  // namespace tokamak
