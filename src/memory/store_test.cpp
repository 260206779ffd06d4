#include "memory/store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/fixture_test.h"

namespace tokamak::memory {
namespace {

TEST_F(StoreTest, IsAFileOfItsOwnerAlone) {
  const Store own = store("deep/er/store.db");
  struct stat facts{};
  ASSERT_EQ(::stat(path("deep/er/store.db").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(StoreTest, ReportsThatThereIsNone) {
  expect_error(Store::open(path("none.db")), {"There is no store", "none.db", "memory add"});
  EXPECT_FALSE(std::filesystem::exists(path("none.db")));
}

TEST_F(StoreTest, RefusesWhatIsNoStore) {
  std::ofstream(path("text.db")) << std::string(5000, 'x');
  expect_error(Store::open(path("text.db")), {"text.db is not a SQLite database"});
  std::ofstream(path("empty.db")) << "";
  expect_error(Store::open(path("empty.db")), {"empty.db is no store", "empty"});
  expect_error(Store::open(folder_), {folder_});
  {
    std::ofstream(path("other.db")) << "";
    const auto other = value(Database::open(path("other.db")));
    expect_ok(other->run("CREATE TABLE bookmark (url)"));
  }
  const std::string before = bytes_of("other.db");
  expect_error(Store::open_or_create(path("other.db")), {"another program's database"});
  EXPECT_EQ(bytes_of("other.db"), before);
}

TEST_F(StoreTest, RefusesANewerVersion) {
  store();
  expect_ok(value(Database::open(path()))->run("PRAGMA user_version = 3"));
  const auto opened = Store::open(path());
  expect_error(opened, {"version 3", "1 to 2"});
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

TEST_F(StoreTest, FindsWordsOfScriptsWithoutSpaces) {
  const Store own = store();
  add(own, "狐狸在晚上打猎。", "zh");
  add(own, "キツネは昼間に眠る。", "ja");
  add(own, "หมาจิ้งจอกนอนตอนกลางวัน", "th");
  const auto found = [&](const char* question) {
    std::string sources;
    for (const int64_t id : value(own.match_words(distinct_words(question), {}, 10))) {
      const int64_t document = value(own.chunk(id)).document;
      sources += value(own.documents({.ids = {document}})).front().source;
    }
    return sources;
  };
  EXPECT_EQ(found("狐狸"), "zh");
  EXPECT_EQ(found("晚上打猎"), "zh");
  EXPECT_EQ(found("猎"), "zh");
  EXPECT_EQ(found("眠る"), "ja");
  EXPECT_EQ(found("นอน"), "th");
  EXPECT_EQ(found("獾"), "");
  value(own.forget({.source = "zh"}));
  EXPECT_EQ(found("狐狸"), "");
  EXPECT_EQ(all_bytes().find("狐"), std::string::npos);
  expect_ok(own.check());
}

TEST_F(StoreTest, IndexesWordsAnewInAStoreOfTheFirstVersion) {
  {
    const Store own = store();
    add(own, "狐狸在晚上打猎。", "zh");
    const auto old = value(Database::open(path()));
    expect_ok(old->run(
        "DROP TABLE chunk_words; CREATE VIRTUAL TABLE chunk_words USING fts5(text, "
        "content='chunk', content_rowid='id', tokenize='unicode61 remove_diacritics 2');"
        "INSERT INTO chunk_words(chunk_words) VALUES('rebuild'); PRAGMA user_version = 1"));
  }
  const Store own = value(Store::open(path()));
  EXPECT_EQ(value(own.match_words(distinct_words("晚上"), {}, 10)).size(), 1u);
  value(own.forget({}));
  EXPECT_TRUE(value(own.match_words(distinct_words("晚上"), {}, 10)).empty());
  EXPECT_EQ(value(value(Database::open(path()))->number("PRAGMA user_version")), 2);
}

TEST_F(StoreTest, ReportsThatItIsDamaged) {
  {
    const Store own = store();
    for (int i = 0; i < 50; ++i) add(own, fmt::format("Text number {} about foxes.", i));
  }
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  for (int page = 1; page < 20; ++page) {
    file.seekp(4096 * page);
    file << std::string(2000, '\xff');
  }
  file.close();
  const auto read = [&]() -> Result<size_t> {
    TOK_TRY(const Store own, Store::open(path()));
    TOK_TRY(own.check());
    TOK_TRY(const auto documents, own.documents({}));
    return documents.size();
  }();
  expect_error(read, {"damaged", "store.db"});
}

TEST_F(StoreTest, WaitsForAnotherProgramOnlySoLong) {
  const Store own = store(), other = store();
  const auto held = value(own.begin());
  const auto start = std::chrono::steady_clock::now();
  expect_error(other.begin(), {"in use by another program", "store.db"});
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
}

TEST_F(StoreTest, PutsTextsTogetherAgain) {
  sizes_ = {.tokens = 12, .overlap = 4};
  const Store own = store();
  std::string text = "# Title\n\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("Sentence {} is here. And so.\n", i);
  const Added added = add(own, text);
  EXPECT_GT(added.chunks, 10u);
  EXPECT_EQ(value(own.text(added.id)), text);
  const auto documents = value(own.documents({}));
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0].title, "Title");
  EXPECT_EQ(documents[0].bytes, text.size());
  EXPECT_EQ(documents[0].chunks, added.chunks);
}

TEST_F(StoreTest, FindsDocumentsByAllThatIsAsked) {
  const Store own = store();
  Writer writer(own, embedder_, redactor_, sizes_);
  expect_ok(writer.begin());
  const auto put = [&](const char* source, int64_t added, const char* year) {
    Json meta;
    meta.set("year", year);
    return value(writer.add({source, std::string("About ") + source, added, meta}, nullptr)).id;
  };
  const int64_t a = put("/a/x.md", 100, "2024"), b = put("/a/y.txt", 200, "2025");
  const int64_t c = put("/b/x.md", 300, "2025");
  const auto found = [&](const Filter& filter) {
    std::vector<int64_t> ids;
    for (const Document& document : value(own.documents(filter))) ids.push_back(document.id);
    return ids;
  };
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(found({}), (Ids{a, b, c}));
  EXPECT_EQ(found({.source = "*.md"}), (Ids{a, c}));
  EXPECT_EQ(found({.source = "/a/?.*"}), (Ids{a, b}));
  EXPECT_EQ(found({.since = 200}), (Ids{b, c}));
  EXPECT_EQ(found({.before = 200}), (Ids{a}));
  EXPECT_EQ(found({.meta = {{"year", "2025"}}}), (Ids{b, c}));
  EXPECT_EQ(found({.ids = {c, a}}), (Ids{a, c}));
  EXPECT_EQ(found({.source = "*.md", .since = 200, .meta = {{"year", "2025"}}}), (Ids{c}));
  EXPECT_EQ(found({.meta = {{"'; DROP TABLE document; --", "x"}}}), Ids());
  EXPECT_EQ(value(own.chunk_ids({.source = "/b/*"})).size(), 1u);
}

/// Runs `work` in a process that ends as if it had been killed.
template <typename Work>
void run_and_crash(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);  // without closing anything
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

TEST_F(StoreTest, IsWholeAfterACrashInTheMiddleOfWriting) {
  sizes_ = {.tokens = 8, .overlap = 0};
  {
    add(store(), "One fox. Two foxes are here today. Three foxes sleep.");
  }
  const std::string long_text(200000, 'x');
  run_and_crash([&] {
    const Store own = store();
    auto transaction = value(own.begin());
    expect_ok(own.remove(1));
    const int64_t id = value(own.put({.source = "new"}, long_text));
    std::vector<StoredChunk> chunks;
    for (uint64_t i = 0; i < 100; ++i) {
      chunks.push_back({.start = i * 2000,
                        .stop = (i + 1) * 2000,
                        .text = long_text.substr(0, 2000),
                        .vector = std::vector<uint16_t>(64)});
    }
    expect_ok(own.put_chunks(id, chunks));
  });
  const Store own = value(Store::open(path()));
  expect_ok(own.check());
  const auto documents = value(own.documents({}));
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0].source, "");
  EXPECT_EQ(value(own.text(1)), "One fox. Two foxes are here today. Three foxes sleep.");
  EXPECT_EQ(value(own.match_words(distinct_words("foxes"), {}, 10)).size(),
            value(own.chunk_ids({})).size());
}

TEST_F(StoreTest, KeepsWhatWasWrittenBeforeACrash) {
  run_and_crash([&] { add(store(), "One fox."); });
  EXPECT_EQ(value(value(Store::open(path())).documents({})).size(), 1u);
}

TEST_F(StoreTest, LeavesNoByteOfWhatIsForgotten) {
  sizes_ = {.tokens = 30, .overlap = 5};
  const Store own = store();
  // More than a page each, so that pages are divided and joined.
  const auto text = [](const std::string& word, int lines) {
    std::string out;
    for (int i = 0; i < lines; ++i) out += fmt::format("The {} number {} sleeps by day. ", word, i);
    return out;
  };
  for (int i = 0; i < 20; ++i) {
    add(own, text(i % 2 == 0 ? "wolverine" : "capercaillie", 100), fmt::format("{}.md", i));
  }
  add(own, "A narwhal.", "secretive.md");
  ASSERT_NE(all_bytes().find("wolverine"), std::string::npos);
  expect_ok(own.erase_traces());
  const size_t before = bytes_of("store.db").size();
  for (const char* source : {"[02468].md", "1[02468].md", "secretive.md"}) {
    value(own.forget({.source = source}));
  }
  const std::string left = all_bytes();
  EXPECT_LT(bytes_of("store.db").size(), before * 3 / 4);
  for (const char* gone : {"wolverine", "olverin", "narwhal", "secretive"}) {
    EXPECT_EQ(left.find(gone), std::string::npos) << gone;
  }
  EXPECT_NE(left.find("capercaillie"), std::string::npos);
  EXPECT_EQ(value(own.documents({})).size(), 10u);
  EXPECT_TRUE(value(own.match_words(distinct_words("wolverine"), {}, 10)).empty());
  EXPECT_FALSE(value(own.match_words(distinct_words("capercaillie"), {}, 10)).empty());
  expect_ok(own.check());
}

TEST_F(StoreTest, ReportsWhereTracesStay) {
  const Store own = store();
  add(own, "One fox.");
  const auto other = value(Database::open(path()));
  Statement reading = value(other->prepare("SELECT text FROM chunk UNION ALL SELECT 'x'"));
  ASSERT_TRUE(value(reading.step()));
  expect_error(own.forget({}), {"traces", "another program"});
  EXPECT_TRUE(value(own.documents({})).empty());
  expect_ok(reading.run());
  EXPECT_EQ(value(own.forget({})), 0u);
  EXPECT_EQ(all_bytes().find("One fox"), std::string::npos);
}

TEST_F(StoreTest, NeverGivesAnIdTwice) {
  const Store own = store();
  const int64_t first = add(own, "One.").id;
  value(own.forget({}));
  EXPECT_GT(add(own, "Two.").id, first);
}

}  // namespace
}  // namespace tokamak::memory
