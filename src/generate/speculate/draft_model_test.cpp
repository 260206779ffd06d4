#include "generate/speculate/draft_model.h"

#include "generate/schedule/fake_program_test.h"

namespace tokamak {
namespace {

constexpr uint32_t kContext = 64;

struct Fixture {
  std::unique_ptr<DraftModel> make() {
    auto made = DraftModel::make(program, kContext, FakeProgram::kVocab);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  /// The tokens that it drafts and has fed on the way.
  Ids draft(DraftModel& model, const Ids& ids, uint32_t tokens, uint32_t slot = 0,
            std::string_view tenant = "") {
    Ids out;
    const DraftModel::Text text{slot, ids, tenant};
    EXPECT_TRUE(model.has_room(text, tokens));
    const auto drafting = model.draft({&text, 1}, tokens, [&](auto values) {
      for (const float value : *values) out.push_back(uint32_t(value));
    });
    EXPECT_TRUE(drafting) << drafting.error().message;
    EXPECT_TRUE(program.wait());
    EXPECT_EQ(out.size(), drafting->tokens);
    model.drafted(slot, out);
    return out;
  }
  std::string log() { return std::exchange(program.log, {}); }

  FakeProgram program;
};

TEST(DraftModel, ReadsTheTextAndSaysWhatFollows) {
  Fixture f;
  const auto model = f.make();
  EXPECT_EQ(f.draft(*model, {1, 2, 3, 4, 5, 6, 7}, 3), (Ids{8, 9, 10}));
  EXPECT_EQ(f.log(), "1+2+3+4@0/7 5+6@4/7 7@6 8@7 9@8 ") << "in steps of a chunk, then one by one";
}

TEST(DraftModel, ContinuesFromWhatCameTrue) {
  Fixture f;
  const auto model = f.make();
  f.draft(*model, {1, 2, 3}, 4);  // 4, 5, 6, 7, of which the last was not fed
  f.log();
  const Ids some = {1, 2, 3, 4, 5, 20}, more = {1, 2, 3, 4, 5, 20, 21, 22, 23};
  EXPECT_EQ(model->unread({0, some}), 0u);
  EXPECT_EQ(f.draft(*model, some, 2), (Ids{21, 22}));
  EXPECT_EQ(f.log(), "20@5 21@6 ") << "the wrong ones are overwritten";
  EXPECT_EQ(f.draft(*model, more, 1), Ids{24});
  EXPECT_EQ(f.log(), "22@7/9 23@8 ") << "all came true";
  EXPECT_EQ(f.draft(*model, {1, 2, 50}, 1), Ids{51});
  EXPECT_EQ(f.log(), "50@2 ") << "another request begins alike";
}

TEST(DraftModel, ReadsAgainWhatAnotherTenantHasLeft) {
  Fixture f;
  const auto model = f.make();
  f.draft(*model, {1, 2, 3, 4}, 1, 0, "alice");
  f.log();
  const Ids same = {1, 2, 3, 4};
  EXPECT_EQ(model->unread({0, same, "alice"}), 0u);
  EXPECT_EQ(model->unread({0, same, "bob"}), 3u);
  EXPECT_EQ(f.draft(*model, same, 1, 0, "bob"), Ids{5});
  EXPECT_EQ(f.log(), "1+2+3@0/4 4@3 ");
}

TEST(DraftModel, ReadsLongTextsInStepsOfItsOwn) {
  Fixture f;
  const auto model = f.make();
  const Ids ids = {1, 2, 3, 4, 5, 6, 7};
  const DraftModel::Text text{0, ids};
  ASSERT_TRUE(model->has_room(text, 1));
  uint32_t ended = 0;
  const auto count = [&](uint32_t most) {
    return *model->read({&text, 1}, most, [&](auto values) { ended += values ? 1 : 0; });
  };
  EXPECT_EQ(count(3), 3u);
  EXPECT_EQ(count(100), 3u) << "the last token runs when it drafts";
  EXPECT_EQ(model->unread(text), 0u);
  EXPECT_TRUE(f.program.wait());
  EXPECT_EQ(ended, 2u);
  EXPECT_EQ(f.log(), "1+2+3@0/7 4+5+6@3/7 ");
}

TEST(DraftModel, ReadsAgainWhatAWindowHasForgotten) {
  Fixture f;
  f.program.add_cache(32, 16);
  const auto model = f.make();
  Ids ids;
  for (uint32_t i = 1; i <= 40; ++i) ids.push_back(i);
  f.draft(*model, ids, 2);
  Ids near(ids.begin(), ids.begin() + 30), far(ids.begin(), ids.begin() + 10);
  near.push_back(100);
  far.push_back(100);
  EXPECT_EQ(model->unread({0, near}), 0u);
  EXPECT_EQ(model->unread({0, far}), 10u) << "the keys before it are overwritten";
  f.log();
  f.draft(*model, {1, 2, 100}, 1);
  EXPECT_EQ(f.log(), "1+2@0/3 100@2 ");
  EXPECT_EQ(model->unread({0, Ids{1, 2, 100, 101}}), 0u);
}

TEST(DraftModel, HasRoomForWhatItKnowsAndCanHold) {
  Fixture f;
  const auto model = f.make();
  const Ids most(kContext - 4, 1), more(kContext - 3, 1), foreign = {1, FakeProgram::kVocab, 2};
  EXPECT_TRUE(model->has_room({0, most}, 4));
  EXPECT_FALSE(model->has_room({0, more}, 4)) << "beyond its context";
  EXPECT_FALSE(model->has_room({0, foreign}, 4)) << "an id that it does not have";
}

TEST(DraftModel, TakesPagesOfSlotsThatNobodyHas) {
  Fixture f;
  f.program.plan_.slots = 2;
  f.program.add_cache(4 * kPageTokens, 0);
  const auto model = f.make();
  const Ids a(40, 1), b(20, 2);
  model->set_taken(0, true);
  model->set_taken(1, true);
  EXPECT_TRUE(model->has_room({0, a}, 4));
  EXPECT_FALSE(model->has_room({1, b}, 4)) << "one page is left, of two";
  f.draft(*model, a, 4);
  EXPECT_EQ(model->unread({0, a}), 0u);
  model->set_taken(0, false);
  EXPECT_TRUE(model->has_room({1, b}, 4));
  EXPECT_EQ(model->unread({0, a}), 39u) << "its pages are another's";
}

TEST(DraftModel, ReadsEverythingAgainAfterALoss) {
  Fixture f;
  const auto model = f.make();
  f.draft(*model, {1, 2, 3}, 2);
  f.program.losses = 1;
  const Ids ids = {1, 2, 3, 4};
  const DraftModel::Text text{0, ids};
  const auto lost = model->draft({&text, 1}, 2, {});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kDeviceLost);
  ASSERT_TRUE(model->restore(lost.error()));
  EXPECT_EQ(model->unread(text), 3u);
}

TEST(DraftModel, CannotHaveRecurrentStates) {
  const FakeProgram recurrent(/*is_recurrent=*/true);
  const Result<void> refused = DraftModel::check(recurrent.plan());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().message,
            "It has recurrent states, which cannot take back a wrong guess; expected a draft model "
            "whose layers all attend.");
}

}  // namespace
}  // namespace tokamak
