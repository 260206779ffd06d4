#include "memory/transfer.h"

#include "memory/fixture_test.h"
#include "memory/search.h"

namespace tokamak::memory {
namespace {

using Lines = std::vector<std::string>;

class TransferTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    sizes_ = {.tokens = 5, .overlap = 2};
    own_ = store();
    add(*own_, "Gone.");
    add(*own_, "Fox sleeps. Owl hunts. It \u00e9ats \"mice\".\n\nAnd so on.", "a.md", 50);
    add(*own_, "Another.", "b.md", 60);
    value(own_->forget({.ids = {1}}));
    expect_ok(own_->add_rule("AB-\\d+"));
  }

  static Lines exported(const Store& store, const Filter& filter = {}) {
    Lines lines;
    expect_ok(export_lines(store, filter, [&](std::string_view line) -> Result<void> {
      lines.emplace_back(line);
      return {};
    }));
    return lines;
  }
  static Result<Imported> imported(const Store& store, const Lines& lines) {
    return import_lines(store, [&, i = size_t(0)]() mutable -> std::optional<std::string> {
      return i < lines.size() ? std::optional(lines[i++]) : std::nullopt;
    });
  }
  /// The export with one text of a line replaced.
  Lines changed(size_t line, std::string_view from, std::string_view to) const {
    Lines lines = exported(*own_);
    const size_t at = lines[line].find(from);
    EXPECT_NE(at, std::string::npos) << lines[line];
    lines[line].replace(at, from.size(), to);
    return lines;
  }

  std::optional<Store> own_;
};

TEST_F(TransferTest, ComesBackAsItWas) {
  const Lines lines = exported(*own_);
  EXPECT_EQ(lines.size(), 3u);
  const Store other = store("other.db");
  const Imported done = value(imported(other, lines));
  EXPECT_EQ(done.added, 2u);
  EXPECT_EQ(done.known, 0u);
  EXPECT_EQ(exported(other), lines);
  EXPECT_EQ(value(other.rules()), Lines{"AB-\\d+"});
  expect_ok(other.check());
  expect_ok(check_model(other, embedder_));
  Searcher searcher(other, &embedder_);
  EXPECT_EQ(value(searcher.search("owl", {})).front().source, "a.md");
}

TEST_F(TransferTest, ExportsWhatTheFilterLeaves) {
  EXPECT_EQ(exported(*own_, {.source = "b*"}).size(), 2u);
}

TEST_F(TransferTest, LeavesAloneWhatIsThere) {
  const Lines lines = exported(*own_);
  const Imported done = value(imported(*own_, lines));
  EXPECT_EQ(done.added, 0u);
  EXPECT_EQ(done.known, 2u);
  EXPECT_EQ(exported(*own_), lines);
}

TEST_F(TransferTest, GivesNewIdsForThoseThatAreTaken) {
  const Store other = store("other.db");
  for (int i = 0; i < 4; ++i) add(other, fmt::format("Note {}.", i), fmt::format("{}", i));
  value(imported(other, exported(*own_)));
  const auto documents = value(other.documents({}));
  ASSERT_EQ(documents.size(), 6u);
  EXPECT_EQ(value(other.text(documents[4].id)), value(own_->text(2)));
  EXPECT_EQ(value(other.text(1)), "Note 0.");
  expect_ok(other.check());
}

TEST_F(TransferTest, RefusesVectorsOfAnotherModel) {
  FakeModel model("second", 2);
  embedder_ = model.embedder();
  const Store other = store("other.db");
  add(other, "Note.");
  expect_error(imported(other, exported(*own_)), {"line 1", "fake", "second"});
}

TEST_F(TransferTest, TakesAllOrNothing) {
  const Store other = store("other.db");
  Lines lines = exported(*own_);
  lines.push_back("{\"id\": 9}");
  expect_error(imported(other, lines), {"line 4", "\"source\" is missing"});
  EXPECT_TRUE(value(other.documents({})).empty());
  EXPECT_FALSE(value(other.model()));
}

TEST_F(TransferTest, RefusesDamagedLines) {
  const Store other = store("other.db");
  expect_error(imported(other, {}), {"no lines"});
  for (const char* line : {"{", "[]", "{\"role\": \"user\"}", "Dear diary"}) {
    expect_error(imported(other, {line}), {"line 1", "is not an export of tokamak memory"});
  }
  expect_error(imported(other, changed(0, "\"tokamak_memory\": 1", "\"tokamak_memory\": 2")),
               {"line 1", "tokamak_memory", "2"});
  expect_error(imported(other, changed(0, "\"dimension\": 64", "\"dimension\": 63")),
               {"line 2", "64", "63"});
  expect_error(imported(other, changed(1, "\"start\": 0", "\"start\": -1")), {"line 2", "start"});
  expect_error(imported(other, changed(1, "\"start\": 0", "\"start\": 1")), {"line 2", "bytes"});
  expect_error(
      imported(other, changed(1, "\"text\": \"Fox sleeps. Owl", "\"text\": \"Fox sleeps. Elk")),
      {"line 2", "does not go on"});
  expect_error(imported(other, changed(1, "\"vector\": \"", "\"vector\": \"*")),
               {"line 2", "vector", "base64"});
  expect_error(imported(other, changed(1, "\"vector\": \"", "\"vector\": \"AHwA")),
               {"line 2", "vector"});
  EXPECT_FALSE(value(other.model()));
}

TEST_F(TransferTest, IsRefusedDuringARebuilding) {
  FakeModel model("second", 2);
  const Embedder second = model.embedder();
  Writer writer(*own_, second, redactor_, sizes_);
  EXPECT_FALSE(writer.rebuild([](size_t done, size_t) { return done < 1; }));
  const auto status = export_lines(*own_, {}, [](std::string_view) -> Result<void> { return {}; });
  expect_error(status, {"being rebuilt"});
}

}  // namespace
}  // namespace tokamak::memory
