// When a result of an earlier run may stand for a case, and when it may not.
#include "known_results.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "steps.h"

namespace tokamak::parity {
namespace {

Case product(uint32_t rows) {
  CaseBuilder b("linear");
  const ValueId x = b.activation(8), w = b.random("w", {Dim{rows}, 8});
  return b.finish(b.graph().linear(x, w), kOneByOne, kSum);
}

std::string key_with(const std::function<void(Case&, DeviceInfo&, parity::Run&)>& change,
                     uint32_t rows = 4) {
  const auto cpu = make_cpu_backend();
  Case c = product(rows);
  parity::Run reference = run(c, *cpu);
  DeviceInfo device = cpu->device();
  change(c, device, reference);
  const auto plan = plan_of(c, *cpu);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? key_of(c, *plan, device, reference) : "";
}

TEST(KnownResults, AKeyChangesWithAllThatDecides) {
  const std::string key = key_with([](Case&, DeviceInfo&, parity::Run&) {});
  EXPECT_EQ(key, key_with([](Case&, DeviceInfo&, parity::Run&) {}));
  const std::set<std::string> keys = {
      key,
      key_with([](Case& c, DeviceInfo&, parity::Run&) { c.constants.at("w")[0] ^= std::byte{1}; }),
      key_with([](Case& c, DeviceInfo&, parity::Run&) { c.tolerance *= 2; }),
      key_with([](Case& c, DeviceInfo&, parity::Run&) { c.steps.chunks.push_back(1); }),
      key_with([](Case&, DeviceInfo& device, parity::Run&) { device.driver += " 2"; }),
      key_with([](Case&, DeviceInfo& device, parity::Run&) { device.features ^= kFeatureF16; }),
      key_with([](Case&, DeviceInfo&, parity::Run& reference) { reference.results[0][0] += 1; }),
      key_with([](Case&, DeviceInfo&, parity::Run&) {}, 5),
  };
  EXPECT_EQ(keys.size(), 8u);
}

TEST(KnownResults, AreKeptFromRunToRunWhereAFolderIsNamed) {
  const std::string folder = testing::TempDir() + "known_results";
  std::filesystem::remove_all(folder);
  const char* outer = std::getenv("TOKAMAK_TEST_RESULTS");
  const std::string kept = outer == nullptr ? "" : outer;
  setenv("TOKAMAK_TEST_RESULTS", folder.c_str(), 1);
  KnownResults first;
  EXPECT_FALSE(first.has("key"));
  first.add("key");
  EXPECT_TRUE(first.has("key"));
  EXPECT_TRUE(KnownResults().has("key"));
  EXPECT_FALSE(KnownResults().has("another"));
  unsetenv("TOKAMAK_TEST_RESULTS");
  EXPECT_FALSE(KnownResults().has("key"));
  if (outer != nullptr) setenv("TOKAMAK_TEST_RESULTS", kept.c_str(), 1);
}

}  // namespace
}  // namespace tokamak::parity
