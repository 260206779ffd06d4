// Standard input, output and error: terminals, pipes or files. Native builds only.
#pragma once
#include <cstddef>
#include <string_view>

#include "base/system/file.h"

namespace tokamak {

bool is_terminal(StandardStream stream);
/// The columns of the terminal that the stream is; 0 where it is none or they are not known.
size_t columns_of(StandardStream stream);

/// Opens a stream that the program was started without, so that no other file gets its number:
/// nothing comes from there, and what is written is lost. Returns whether it was closed.
bool open_if_closed(StandardStream stream);

/// Writes all of it to standard output. Where nobody reads any more, the program ends without a
/// word, as every filter does. Errors as File's.
Result<void> write_to_reader(std::string_view text);

/// Drops what libraries write to standard error, for as long as it lives.
class SilentErrors {
 public:
  SilentErrors();
  SilentErrors(const SilentErrors&) = delete;
  SilentErrors& operator=(const SilentErrors&) = delete;
  ~SilentErrors();

 private:
  File::Handle before_;
};

}  // namespace tokamak
