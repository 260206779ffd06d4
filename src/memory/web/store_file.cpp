#include "memory/store_file.h"

namespace tokamak::memory {

Result<void> check_store_file(const std::string&) {
  return {};
}

Result<void> make_store_file(const std::string&) {
  return {};
}

}  // namespace tokamak::memory
