#include "base/guarded.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace tokamak {
namespace {

/// Short enough to need no memory of its own.
Error out_of_memory() {
  return {ErrorCode::kOutOfMemory, "Out of memory."};
}

Error refused_by_system(const std::system_error& refused) {
  try {
    return {ErrorCode::kOutOfMemory,
            fmt::format("The system refuses a thread or a lock: {}.", refused.what())};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace

Error error_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // more than any memory has
    return out_of_memory();
  } catch (const std::system_error& refused) {
    return refused_by_system(refused);
  }
}

}  // namespace tokamak
