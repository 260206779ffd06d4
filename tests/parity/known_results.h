// Cases that an earlier run on this machine found right, so that a change of one kernel does not
// make every other one wait for the software driver's compiler.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "case.h"

namespace tokamak::parity {

/// Everything that decides the outcome of a case: the shader texts, constants and grids of its
/// plan, its inputs, what the reference computes for it, its tolerance, the device with its driver,
/// and the sources of what runs it. 128 bits in hexadecimal.
std::string key_of(const Case& c, const Plan& plan, const DeviceInfo& device, const Run& reference);

/// The keys of the cases that passed, one a line in a file below the folder that
/// TOKAMAK_TEST_RESULTS names. Without that variable nothing is known and nothing is kept. Several
/// programs may append at the same time.
class KnownResults {
 public:
  KnownResults();
  bool has(const std::string& key);
  void add(const std::string& key);
  uint32_t known() const { return known_; }
  uint32_t computed() const { return computed_; }

 private:
  std::string path_;
  std::set<std::string> keys_;
  uint32_t known_ = 0, computed_ = 0;
};

/// Hash of the sources that run a case: the backends, plans and this folder's runner. Made by
/// tools/hash_files.py.
std::string_view runner_sources_hash();

}  // namespace tokamak::parity
