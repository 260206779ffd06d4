// Files that a command writes at its end.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/whole_file.h"

namespace tokamak::cli {

/// Whether the file can be written, so that a bad path is found before the work. "" can.
Result<void> check_output(const std::string& path);

/// Whoever reads the file meanwhile sees what was there or all of `text`. What is no plain file, as
/// /dev/stdout, is written as it is.
Result<void> write_output(const std::string& path, std::string_view text);

/// Puts a piece of a long output, which is `path` to its user.
Result<void> put_piece(WholeFile& file, std::span<const std::byte> bytes, const std::string& path);

/// The error of a long output that could be begun, and not be ended.
Failure unfinished_output(const std::string& path);

}  // namespace tokamak::cli
