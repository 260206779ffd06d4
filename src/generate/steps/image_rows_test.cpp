#include "generate/steps/image_rows.h"

#include <gtest/gtest.h>

#include <bit>

namespace tokamak {
namespace {

constexpr uint32_t kVocab = 100;

Plan plan_with_rows(uint32_t capacity, uint32_t width) {
  Plan plan;
  plan.buffers.push_back({.use = BufferUse::kRows,
                          .bytes = uint64_t{capacity} * width * sizeof(float),
                          .tensor = {.name = "rows", .shape = {capacity, width}}});
  return plan;
}

/// Rows of 2 floats, for images of at most 8 tokens, that stand in rows and columns.
ImageRows some_rows() {
  return ImageRows(plan_with_rows(8, 2), kVocab, [](const TokenPlace&, std::span<float>) {});
}

/// The data that was written to the device.
class Written : public Program {
 public:
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    writes.emplace_back(first, values.size());
    first_values.emplace_back(buffer, std::bit_cast<float>(values[0]));
    return {};
  }
  Result<void> submit(const StepRequest&) override { return {}; }
  Result<void> poll() override { return {}; }
  Result<void> wait() override { return {}; }

  std::vector<std::pair<uint64_t, size_t>> writes;
  std::vector<std::pair<BufferId, float>> first_values;

 private:
  Plan plan_;
};

/// An image whose tower makes zeros.
ImageRef add(ImageRows& rows, uint32_t height, uint32_t width) {
  return rows.add(height, width, [=] { return std::vector<float>(2 * height * width); });
}

TEST(ImageRows, GiveEachImageIdsOfItsOwnThatDoNotWrap) {
  ImageRows rows = some_rows();
  EXPECT_EQ(add(rows, 1, 6)->first_id, kVocab);
  const ImageRef second = add(rows, 2, 2);
  EXPECT_EQ(second->first_id, kVocab + 8) << "6 and 4 rows do not fit in 8 places without a gap";
  EXPECT_EQ(rows.find(kVocab + 5)->tokens(), 6u);
  EXPECT_EQ(rows.find(kVocab + 6), nullptr);
  EXPECT_EQ(rows.find(kVocab + 11), second);
  EXPECT_EQ(rows.find(kVocab - 1), nullptr);
}

TEST(ImageRows, AreWrittenWhereTheDeviceDoesNotHoldThem) {
  ImageRows rows = some_rows();
  const ImageRef first = add(rows, 1, 6), second = add(rows, 2, 2);
  Written program;
  for (const ImageRef& image : {first, first, second, first}) {
    ASSERT_TRUE(rows.upload(program, *image));
  }
  using Write = std::pair<uint64_t, size_t>;
  EXPECT_EQ(program.writes, (std::vector<Write>{{0, 12}, {0, 8}, {0, 12}}));
  rows.forget_device();
  ASSERT_TRUE(rows.upload(program, *first));
  EXPECT_EQ(program.writes.size(), 4u);
}

TEST(ImageRows, AreMadeOnceAndNotBeforeAStepReadsThem) {
  ImageRows rows = some_rows();
  uint32_t runs = 0;
  const ImageRef image = rows.add(1, 2, [&]() -> Result<std::vector<float>> {
    if (++runs == 1) return fail(ErrorCode::kDeviceLost, "The device is lost.");
    return std::vector<float>{1, 2, 3, 4};
  });
  EXPECT_EQ(runs, 0u);
  Written program;
  const auto lost = rows.upload(program, *image);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kDeviceLost);
  ASSERT_TRUE(rows.upload(program, *image)) << "the next try runs the tower again";
  rows.forget_device();
  ASSERT_TRUE(rows.upload(program, *image));
  EXPECT_EQ(runs, 2u) << "the host has kept the rows";
  EXPECT_EQ(image->values, (std::vector<float>{1, 2, 3, 4}));
}

TEST(ImageRows, OfLayersFollowThoseOfTokens) {
  Plan plan = plan_with_rows(8, 2);
  const Buffer rows = plan.buffers[0];
  plan.buffers.clear();
  for (const char* name : {"rows.10", "rows.0", "rows"}) {
    plan.buffers.push_back(rows);
    plan.buffers.back().tensor.name = name;
  }
  ImageRows images(plan, kVocab, {});
  const ImageRef image =
      images.add(1, 2, [] { return std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; });
  Written program;
  ASSERT_TRUE(images.upload(program, *image));
  const std::vector<std::pair<BufferId, float>> expected = {
      {BufferId{2}, 1.0f}, {BufferId{1}, 5.0f}, {BufferId{0}, 9.0f}};
  EXPECT_EQ(program.first_values, expected);
}

TEST(ImageRows, KeepTheNewestAndThoseThatSomebodyHas) {
  ImageRows rows = some_rows();
  const ImageRef held = add(rows, 1, 1);
  const uint32_t dropped = add(rows, 1, 1)->first_id;
  for (uint32_t i = 0; i < 63; ++i) add(rows, 1, 1);
  EXPECT_EQ(rows.find(dropped), nullptr);
  EXPECT_EQ(rows.find(held->first_id), held);
}

TEST(ImageRows, CountAnEpochWhereIdsBeginAgain) {
  constexpr uint32_t kLate = UINT32_MAX - 23;
  ImageRows rows(plan_with_rows(8, 2), kLate, {});
  const ImageRef first = add(rows, 1, 8);
  EXPECT_EQ(rows.epoch(), 0u);
  const ImageRef second = add(rows, 1, 8);
  EXPECT_EQ(rows.epoch(), 1u);
  EXPECT_EQ(second->first_id, kLate);
  EXPECT_EQ(rows.find(kLate), second) << "and not the first, which had these ids before";
  Written program;
  ASSERT_TRUE(rows.upload(program, *second));
  EXPECT_EQ(program.writes.size(), 1u);
  EXPECT_EQ(first->first_id, second->first_id);
  ASSERT_TRUE(rows.upload(program, *first));
  EXPECT_EQ(program.writes.size(), 2u) << "a request of the epoch before still has it";
}

std::vector<uint32_t> with_images(const ImageRef& a, const ImageRef& b) {
  std::vector<uint32_t> ids = {1, 2, 3};
  for (const uint32_t id : a->ids()) ids.push_back(id);
  ids.push_back(4);
  for (const uint32_t id : b->ids()) ids.push_back(id);
  ids.push_back(5);
  return ids;
}

TEST(TokenPlaces, ContinueTheTextAfterTheLongerSideOfAnImage) {
  ImageRows rows = some_rows();
  const auto a = add(rows, 2, 3);
  const auto b = add(rows, 1, 2);
  const auto ids = with_images(a, b);
  const TokenPlaces places(ids, &rows);
  const auto expect_place = [&](uint32_t index, uint32_t time, uint32_t row, uint32_t column) {
    const TokenPlace place = places.place(index);
    EXPECT_EQ(place.time, time) << index;
    EXPECT_EQ(place.row, row) << index;
    EXPECT_EQ(place.column, column) << index;
  };
  expect_place(2, 2, 2, 2);
  expect_place(3, 3, 3, 3);
  expect_place(5, 3, 3, 5);
  expect_place(8, 3, 4, 5);
  expect_place(9, 6, 6, 6);
  expect_place(11, 7, 7, 8);
  expect_place(12, 9, 9, 9);
  EXPECT_EQ(places.shift(2), 0u);
  EXPECT_EQ(places.shift(12), uint32_t(-3));
}

TEST(TokenPlaces, FindImagesInChunks) {
  ImageRows rows = some_rows();
  const auto a = add(rows, 2, 3);
  const auto ids = with_images(a, add(rows, 1, 2));
  const TokenPlaces places(ids, &rows);
  EXPECT_EQ(places.image(0, 3), nullptr);
  EXPECT_EQ(places.image(0, 4), a.get());
  EXPECT_EQ(places.image(8, 1), a.get());
  EXPECT_EQ(places.image(9, 1), nullptr);
  EXPECT_EQ(places.step_tokens(0, 13, 13), 10u);
  EXPECT_EQ(places.step_tokens(0, 5, 13), 5u);
  EXPECT_EQ(places.step_tokens(9, 4, 13), 4u);
  EXPECT_EQ(places.step_tokens(0, 13, 13, true), 3u) << "the step has another's already";
  EXPECT_EQ(places.step_tokens(4, 5, 13, true), 0u);
  EXPECT_TRUE(places.can_part(5));
}

TEST(TokenPlaces, CountOnWhereImagesHaveNoPlaces) {
  ImageRows rows(plan_with_rows(8, 2), kVocab, {});
  const auto a = add(rows, 2, 3);
  const TokenPlaces places(with_images(a, a), &rows);
  EXPECT_EQ(places.shift(15), 0u);
  EXPECT_EQ(places.image(3, 1), a.get());
}

TEST(TokenPlaces, FindTheRowsOfAnImageAroundWords) {
  ImageRows rows(plan_with_rows(8, 2), kVocab, {});
  const std::vector<ImagePart> parts = {{{7}, 2}, {{8, 9}, 2}, {{7}, 0}};
  const auto a = rows.add(2, 2, [] { return std::vector<float>(8); }, parts);
  const auto b = add(rows, 1, 2);
  const uint32_t first = a->first_id;
  EXPECT_EQ(a->ids(), (std::vector<uint32_t>{7, first, first + 1, 8, 9, first + 2, first + 3, 7}));
  const TokenPlaces places(with_images(a, b), &rows);
  EXPECT_EQ(places.image(4, 2), a.get());
  EXPECT_EQ(places.image(6, 2), nullptr) << "words";
  EXPECT_EQ(places.image(8, 2), a.get());
  EXPECT_EQ(places.image(10, 2), nullptr);
  EXPECT_EQ(places.step_tokens(0, 14, 14), 12u) << "both parts are of one image, b is another";
  EXPECT_EQ(places.step_tokens(0, 14, 14, true), 4u);
}

TEST(TokenPlaces, KeepImagesWholeThatSeeAllOfThemselves) {
  ImageRows rows(plan_with_rows(8, 2), kVocab, {}, true);
  const auto a = add(rows, 2, 3);
  const TokenPlaces places(with_images(a, a), &rows);
  EXPECT_EQ(places.step_tokens(0, 5, 8), 3u) << "the text before it";
  EXPECT_EQ(places.step_tokens(3, 5, 8), 6u) << "more than asked for: all of it";
  EXPECT_EQ(places.step_tokens(3, 5, 5), 0u) << "there is no room for it";
  EXPECT_EQ(places.step_tokens(4, 2, 8), 5u) << "what is left of it";
  EXPECT_EQ(places.step_tokens(3, 6, 8), 6u);
  EXPECT_TRUE(places.can_part(3));
  EXPECT_FALSE(places.can_part(4));
  EXPECT_TRUE(places.can_part(9));
  EXPECT_EQ(places.end(2), 0u);
  EXPECT_EQ(places.end(3), 9u);
  EXPECT_EQ(places.end(8), 9u);
  EXPECT_EQ(places.end(9), 0u);
}

}  // namespace
}  // namespace tokamak
