#include "known_results.h"

#include <filesystem>
#include <fstream>

#include "base/environment.h"
#include "base/hash.h"
#include "kernels/sources.h"
#include "plan/text.h"

namespace tokamak::parity {
namespace {

/// A longer file is begun anew: most of its keys belong to kernels that have changed since.
constexpr uint64_t kMaxFileBytes = uint64_t{8} << 20;

/// Two hashes of 64 bits over the same bytes.
class Key {
 public:
  void add(std::span<const std::byte> bytes) {
    add_number(bytes.size());
    low_ = hash_bytes(bytes, low_);
    high_ = hash_bytes(bytes, high_);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add_number(uint64_t number) {
    const auto bytes = std::as_bytes(std::span(&number, 1));
    low_ = hash_bytes(bytes, low_);
    high_ = hash_bytes(bytes, high_);
  }
  template <typename T>
  void add_values(const std::vector<T>& values) {
    add(std::as_bytes(std::span(values)));
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", low_, high_); }

 private:
  uint64_t low_ = kHashStart, high_ = ~kHashStart;
};

}  // namespace

std::string key_of(const Case& c, const Plan& plan, const DeviceInfo& device,
                   const Run& reference) {
  Key key;
  key.add(runner_sources_hash());
  key.add(TOKAMAK_DAWN_VERSION);
  key.add(device.name);
  key.add(device.driver);
  key.add_number(device.features);
  key.add(to_text(plan));
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      key.add(shader_text(step.kernel->needs, step.launch, step.inputs.size(), step.outputs.size(),
                          batch_access(plan, phase, step)));
    }
  }
  for (const auto& [name, bytes] : c.constants) {
    key.add(name);
    key.add(bytes);
  }
  for (const auto& [name, numbers] : c.tables) {
    key.add(name);
    key.add_values(numbers);
  }
  key.add_values(c.steps.chunks);
  key.add(std::as_bytes(std::span(&c.tolerance, 1)));
  key.add(std::as_bytes(std::span(&c.rule, 1)));
  for (const std::vector<float>& result : reference.results) key.add_values(result);
  return key.text();
}

KnownResults::KnownResults() {
  const std::string folder = environment_variable("TOKAMAK_TEST_RESULTS");
  if (folder.empty()) return;
  std::error_code failed;  // without the folder nothing is kept
  std::filesystem::create_directories(folder, failed);
  path_ = folder + "/parity.txt";
  if (std::filesystem::file_size(path_, failed) > kMaxFileBytes && !failed) {
    std::filesystem::remove(path_, failed);
  }
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) keys_.insert(line);
}

bool KnownResults::has(const std::string& key) {
  const bool known = keys_.contains(key);
  known_ += known;
  return known;
}

void KnownResults::add(const std::string& key) {
  ++computed_;
  if (path_.empty()) return;
  keys_.insert(key);
  std::ofstream(path_, std::ios::app) << key + "\n";
}

}  // namespace tokamak::parity
