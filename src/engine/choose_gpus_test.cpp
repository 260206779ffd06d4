#include "engine/choose_gpus.h"

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace tokamak {
namespace {

CudaDeviceEntry device(const char* name, uint64_t bytes) {
  CudaDeviceEntry entry;
  entry.info.name = name;
  entry.place.bytes = bytes;
  return entry;
}

using Numbers = std::vector<uint32_t>;

/// The answer of a model of which all is cut.
bool all_fit(uint32_t) {
  return true;
}

TEST(ChooseGpus, TakesTheFewestThatHaveRoom) {
  const std::vector<CudaDeviceEntry> devices(4, device("H200", 100));
  EXPECT_EQ(gpus_for(90, 90, 0, devices, all_fit), Numbers());
  EXPECT_EQ(gpus_for(91, 90, 0, devices, all_fit), Numbers({0, 1}));
  EXPECT_EQ(gpus_for(162, 90, 2, devices, all_fit), Numbers({2, 0}));
  EXPECT_EQ(gpus_for(163, 90, 0, devices, all_fit), Numbers({0, 1, 2})) << "a tenth is for caches";
  EXPECT_EQ(gpus_for(324, 90, 0, devices, all_fit), Numbers({0, 1, 2, 3}));
  EXPECT_EQ(gpus_for(325, 90, 0, devices, all_fit), Numbers()) << "all have no room";
}

/// A table of tokens, towers and norms are whole on every rank.
TEST(ChooseGpus, TakesMoreWhereThePartOfARankHasNoRoom) {
  const std::vector<CudaDeviceEntry> devices(4, device("H200", 100));
  constexpr uint32_t kWhole = 40, kCut = 120, kRoom = 90;
  Numbers asked;
  const auto fit = [&](uint32_t ranks) {
    asked.push_back(ranks);
    return leave_room(kWhole + kCut / ranks, kRoom);
  };
  EXPECT_EQ(gpus_for(kWhole + kCut, kRoom, 0, devices, fit), Numbers({0, 1, 2}));
  EXPECT_EQ(asked, Numbers({2, 3}));
  asked.clear();
  EXPECT_EQ(gpus_for(200, kRoom, 0, devices, fit), Numbers({0, 1, 2}));
  EXPECT_EQ(asked, Numbers({3})) << "two have no room for the weights, however they are cut";
  const auto none = [](uint32_t) { return false; };
  EXPECT_EQ(gpus_for(100, kRoom, 0, devices, none), Numbers());
}

TEST(ChooseGpus, TakesOnlyDevicesThatAreAlike) {
  const std::vector<CudaDeviceEntry> devices = {device("A", 100), device("B", 100), device("A", 80),
                                                device("A", 100)};
  EXPECT_EQ(gpus_for(120, 90, 0, devices, all_fit), Numbers({0, 3}));
  EXPECT_EQ(gpus_for(120, 90, 1, devices, all_fit), Numbers());
  EXPECT_EQ(gpus_for(120, 90, 4, devices, all_fit), Numbers()) << "there is no such device";
}

TEST(ChooseGpus, TakesTheLargestWhereEachHasLayers) {
  const std::vector<CudaDeviceEntry> devices = {device("A", 100), device("B", 50),
                                                device("C", 200)};
  const auto fit = [](std::span<const uint64_t>) { return true; };
  EXPECT_EQ(layer_gpus_for(90, 90, 0, devices, fit), Numbers());
  EXPECT_EQ(layer_gpus_for(243, 90, 0, devices, fit), Numbers({0, 2})) << "a tenth is for caches";
  EXPECT_EQ(layer_gpus_for(244, 90, 0, devices, fit), Numbers({0, 2, 1}));
  EXPECT_EQ(layer_gpus_for(284, 90, 0, devices, fit), Numbers()) << "all have no room";
}

/// A table of tokens that the logits read, too, is on the first device and on the last.
TEST(ChooseGpus, TakesMoreWhereLayersHaveNoRoomBesideWhatTwoHaveBoth) {
  const std::vector<CudaDeviceEntry> devices = {device("A", 100), device("B", 50),
                                                device("C", 200)};
  std::vector<std::vector<uint64_t>> asked;
  const auto fit = [&](std::span<const uint64_t> rooms) {
    asked.emplace_back(rooms.begin(), rooms.end());
    return rooms.size() > 2;
  };
  EXPECT_EQ(layer_gpus_for(200, 90, 0, devices, fit), Numbers({0, 2, 1}));
  EXPECT_EQ(asked, (std::vector<std::vector<uint64_t>>{{90, 180}, {90, 180, 45}}));
}

/// The table of tokens counts twice: with the half of all and a tenth for caches two have no room.
TEST(ChooseGpus, CountsWhatTwoPartsOfAPlanHaveBoth) {
  const auto files = read_model_files("tests/data/models/gemma3_softcap");
  ASSERT_TRUE(files) << files.error().message;
  const auto compiled = Engine::compile(*files, make_cpu_backend()->device(),
                                        {.backend = "cpu", .context = 64, .chunk = 16});
  ASSERT_TRUE(compiled) << compiled.error().message;
  const Plan& plan = compiled->main.plan;
  const uint64_t half = footprint(plan).constants * 10 / 9 / 2 + 1;
  const auto has_room = [&](std::vector<uint64_t> rooms, uint64_t towers = 0) {
    return layers_have_room(plan, towers, rooms);
  };
  EXPECT_FALSE(has_room({half, half}));
  EXPECT_TRUE(has_room({half, half, half}));
  EXPECT_TRUE(has_room({2 * half, 2 * half}));
  EXPECT_FALSE(has_room({2 * half, 2 * half}, 2 * half)) << "no room for towers";
  EXPECT_FALSE(has_room(std::vector<uint64_t>(100, half))) << "there are fewer layers";
}

TEST(OpenBackend, RefusesAnUnknownSplitOfOneDeviceToo) {
  OpenOptions options;
  options.backend = "cpu";
  options.split = "rows";
  const auto backend = open_backend(options);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().message, "split is \"rows\", expected auto, ranks or layers.");
}

}  // namespace
}  // namespace tokamak
