#include "memory/writer.h"

#include "memory/fixture_test.h"
#include "memory/search.h"

namespace tokamak::memory {
namespace {

TEST_F(StoreTest, RedactsBeforeAnythingElseSeesTheText) {
  const Store own = store();
  redactor_ = value(Redactor::make({"zebra"}));
  const Added added = add(own,
                          "# To ann@example.org\n\nThe zebra pays with 4111 1111 1111 1111.\n"
                          "password: hunter22\n");
  EXPECT_EQ(added.redacted, (std::array<uint32_t, 4>{1, 1, 1, 1}));
  for (const char* secret : {"ann@", "zebra", "4111", "hunter"}) {
    for (const std::string& text : model_.seen) {
      EXPECT_EQ(text.find(secret), std::string::npos) << secret;
    }
    EXPECT_EQ(all_bytes().find(secret), std::string::npos) << secret;
    EXPECT_TRUE(value(own.match_words(distinct_words(secret), {}, 10)).empty()) << secret;
  }
  EXPECT_EQ(value(own.documents({}))[0].title, "To [REDACTED]");
}

TEST_F(StoreTest, NormalisesBeforeItRedacts) {
  const Store own = store();
  redactor_ = value(Redactor::make({"Zo\u00eb"}));
  EXPECT_EQ(value(own.text(add(own, "Zoe\u0308 came.").id)), "[REDACTED] came.");
}

TEST_F(StoreTest, LeavesTheSameTextAlone) {
  const Store own = store();
  const Added first = add(own, "One fox.", "a.md");
  model_.seen.clear();
  const Added again = add(own, "One fox.", "a.md");
  EXPECT_EQ(again.kind, Added::Kind::kUnchanged);
  EXPECT_EQ(again.id, first.id);
  for (const std::string& text : model_.seen) EXPECT_EQ(text.find("fox"), std::string::npos);
  EXPECT_EQ(add(own, "One fox.", "b.md").kind, Added::Kind::kNew);
  EXPECT_EQ(value(own.documents({})).size(), 2u);
}

TEST_F(StoreTest, TakesTheNewTextOfASourceForTheOldOne) {
  const Store own = store();
  add(own, "One fox.", "a.md");
  add(own, "A note.");
  const Added added = add(own, "Two owls.", "a.md");
  EXPECT_EQ(added.kind, Added::Kind::kReplaced);
  EXPECT_TRUE(value(own.match_words(distinct_words("fox"), {}, 10)).empty());
  EXPECT_EQ(value(own.documents({})).size(), 2u);
  EXPECT_EQ(add(own, "Another note.").kind, Added::Kind::kNew);
}

TEST_F(StoreTest, RefusesWhatIsNoText) {
  const Store own = store();
  Writer writer(own, embedder_, redactor_, sizes_);
  expect_ok(writer.begin());
  expect_error(writer.add({.source = "", .text = std::string("a\0b", 3)}, nullptr), {"no text"});
  expect_error(writer.add({.source = "", .text = " \n\n"}, nullptr), {"empty"});
  EXPECT_TRUE(value(own.documents({})).empty());
}

TEST_F(StoreTest, IsAsItWasAfterAnInterruption) {
  sizes_ = {.tokens = 4, .overlap = 0};
  const Store own = store();
  add(own, "One fox.", "a.md");
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("Owl {} sleeps. ", i);
  Writer writer(own, embedder_, redactor_, sizes_);
  size_t last = 0;
  const auto stopped = writer.add({.source = "a.md", .text = text}, [&](size_t done, size_t all) {
    EXPECT_EQ(all, 100u);
    EXPECT_GT(done, last);
    last = done;
    return done < 40;
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(last, 48u);
  EXPECT_EQ(value(own.text(1)), "One fox.");
}

TEST_F(StoreTest, HasChunksThatTheModelTakes) {
  embedder_.max_tokens = 5;
  sizes_ = {.tokens = 100, .overlap = 0};
  EXPECT_EQ(add(store(), "a b c d e. f g h i j. k").chunks, 3u);
}

TEST_F(StoreTest, RefusesVectorsOfAnotherModel) {
  const Store own = store();
  add(own, "One fox.");
  for (FakeModel other : {FakeModel("other", 2, 64), FakeModel("longer", 1, 65)}) {
    const Embedder embedder = other.embedder();
    Writer writer(own, embedder, redactor_, sizes_);
    expect_error(writer.begin(), {"fake", embedder.name, "memory rebuild -m"});
    Searcher searcher(own, &embedder);
    expect_error(searcher.search("fox", {}), {"fake", embedder.name, "memory rebuild -m"});
  }
  const Embedder renamed = FakeModel("renamed").embedder();
  FakeModel same("renamed");
  const Embedder embedder = same.embedder();
  expect_ok(check_model(own, embedder));
}

TEST(CheckText, NamesTheLineThatIsNotUtf8) {
  expect_ok(check_text("One.\nTw\u00f6.\n"));
  expect_error(check_text("One.\nTw\xf6.\n"), {"Line 2 is not UTF-8."});
  expect_error(check_text(std::string_view("a\0b", 3)), {"bytes that are no text"});
}

TEST(IsBlank, LooksForWhatCanBeSeen) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank("\xef\xbb\xbf \r\n\t\u200b\u3000"));
  EXPECT_FALSE(is_blank(" \u732b"));
}

class RebuildTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    sizes_ = {.tokens = 4, .overlap = 0};
    for (int i = 0; i < 6; ++i) {
      add(own(), fmt::format("Fox {} sleeps. Owl {} hunts.", i, i), fmt::format("{}.md", i));
    }
  }
  const Store& own() {
    if (!own_) own_ = store();
    return *own_;
  }
  std::optional<Store> own_;
  FakeModel other_{"other", 2, 32};
  Embedder other_embedder_ = other_.embedder();
};

TEST_F(RebuildTest, MakesEverythingAgainByAnotherModel) {
  Writer writer(own(), other_embedder_, redactor_, {.tokens = 8, .overlap = 0});
  expect_ok(writer.rebuild(nullptr));
  const auto documents = value(own().documents({}));
  ASSERT_EQ(documents.size(), 6u);
  EXPECT_EQ(documents[3].id, 4);
  EXPECT_EQ(documents[3].chunks, 1u);
  EXPECT_EQ(value(own().text(4)), "Fox 3 sleeps. Owl 3 hunts.");
  EXPECT_EQ(value(own().model())->name, "other");
  expect_ok(own().erase_traces());
  EXPECT_EQ(all_bytes().find("fake"), std::string::npos);
  EXPECT_EQ(value(own().vectors()).size(), 6u);
  expect_ok(own().check());
  Searcher searcher(own(), &other_embedder_);
  EXPECT_EQ(value(searcher.search("Owl 3", {})).front().source, "3.md");
  expect_error(check_model(own(), embedder_), {"other", "fake"});
}

TEST_F(RebuildTest, ContinuesWhereItWasInterrupted) {
  Writer writer(own(), other_embedder_, redactor_, sizes_);
  EXPECT_FALSE(writer.rebuild([](size_t done, size_t) { return done < 4; }));
  EXPECT_EQ(value(own().outdated()), 2u);
  Searcher searcher(own(), &other_embedder_);
  expect_error(searcher.search("Owl", {}), {"being rebuilt", "2 documents", "memory rebuild"});
  EXPECT_EQ(value(searcher.search("Owl", {.by = By::kWords})).size(), 6u);
  expect_error(writer.begin(), {"being rebuilt"});

  other_.seen.clear();
  expect_ok(writer.rebuild(nullptr));
  const std::string seen = fmt::format("{}", fmt::join(other_.seen, "|"));
  EXPECT_EQ(seen.find("Fox 3"), std::string::npos) << seen;
  EXPECT_NE(seen.find("Fox 4"), std::string::npos) << seen;
  expect_ok(writer.begin());
}

TEST_F(RebuildTest, StartsOverForAThirdModel) {
  Writer writer(own(), other_embedder_, redactor_, sizes_);
  EXPECT_FALSE(writer.rebuild([](size_t done, size_t) { return done < 4; }));
  FakeModel third("third", 3, 16);
  const Embedder embedder = third.embedder();
  expect_ok(Writer(own(), embedder, redactor_, sizes_).rebuild(nullptr));
  expect_ok(check_model(own(), embedder));
  EXPECT_EQ(value(own().vectors()).size(), 12u);
}

}  // namespace
}  // namespace tokamak::memory
