#include "text/tokenizer/model_tables.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The tables as text, or "none" when the document is not of the plain form.
std::string tables(std::string_view json) {
  const auto document = split_model_tables(json);
  if (!document) return "none";
  std::string text;
  for (const TokenEntry& entry : document->tables.vocab) {
    text += fmt::format("{}={} ", entry.token, entry.id);
  }
  for (const MergePair& pair : document->tables.merges) {
    text += fmt::format("{}+{} ", pair.left, pair.right);
  }
  return text + document->rest.dump();
}

TEST(ModelTables, TakesTheTablesOutOfTheDocument) {
  EXPECT_EQ(tables(R"({"a": [1, "]"], "model" : {"vocab": {"x": 0, "\u00e9\n" : 17}, "type": "BPE",
                       "merges":[ ["x","y"], ["", "\"z"] ]}, "b": {"model": 3}})"),
            "x=0 \u00e9\n=17 x+y +\"z {\"a\": [1, \"]\"], \"model\": {\"vocab\": null, \"type\": "
            "\"BPE\", \"merges\": null}, \"b\": {\"model\": 3}}");
  EXPECT_EQ(tables(R"({"model": {"merges": ["a b", "c d"], "vocab": {}}})"),
            "a+b c+d {\"model\": {\"merges\": null, \"vocab\": null}}");
}

TEST(ModelTables, LeavesWhatIsNotPlainToTheParser) {
  for (const char* model :
       {R"({"vocab": {"a": -1}, "merges": []})", R"({"vocab": {"a": 1.5}, "merges": []})",
        R"({"vocab": {"a": 01}, "merges": []})", R"({"vocab": {"a": 1234567890}, "merges": []})",
        R"({"vocab": {"a": 1,}, "merges": []})", R"({"vocab": {"a" 1}, "merges": []})",
        R"({"vocab": ["a"], "merges": []})", R"({"vocab": {}, "merges": {}})",
        R"({"vocab": {}, "merges": ["ab"]})", R"({"vocab": {}, "merges": ["a b c"]})",
        R"({"vocab": {}, "merges": [["a"]]})", R"({"vocab": {}, "merges": [["a", "b"], "a b"]})",
        R"({"vocab": {}, "merges": ["#version: 0.2"]})", R"({"vocab": {}, "vocab": {}})",
        R"({"type": "WordPiece", "vocab": {}, "merges": []})", R"({"vocab": {}})", "[]", "3"}) {
    EXPECT_EQ(tables(fmt::format("{{\"model\": {}}}", model)), "none") << model;
  }
}

TEST(ModelTables, LeavesWhatIsNotJsonToTheParser) {
  const std::string good = R"({"x": [{}], "model": {"vocab": {"a": 1}, "merges": ["a b"]}})";
  ASSERT_NE(tables(good), "none");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(tables(good.substr(0, size)), "none") << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char c : {'"', '\\', '{', '}', ']', ',', '\x01', '\xff'}) {
      std::string changed = good;
      changed[at] = c;
      if (tables(changed) != "none") {
        EXPECT_TRUE(Json::parse(changed)) << changed;
      }
    }
  }
}

}  // namespace
}  // namespace tokamak
