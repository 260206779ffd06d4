#include "text/tokenizer/normalizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The text that the normalizer `json` makes of `text`, or the message of its error.
std::string normalized(std::string_view json, std::string_view text) {
  auto normalizer = Normalizer::from_json(*Json::parse(json));
  if (!normalizer) return normalizer.error().message;
  auto result = normalizer->apply(std::string(text));
  return result ? *result : result.error().message;
}

TEST(Normalizer, NullChangesNothing) {
  EXPECT_EQ(normalized("null", " e\u0301 "), " e\u0301 ");
}

TEST(Normalizer, RunsASequenceInOrder) {
  const std::string json = R"({"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "_"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "_"}]})";
  EXPECT_EQ(normalized(json, "a b"), "_a_b");
  EXPECT_EQ(normalized(json, ""), "");  // nothing is put before an empty text
}

TEST(Normalizer, RecognizesTheUnicodeForms) {
  EXPECT_EQ(normalized(R"({"type": "NFC"})", "e\u0301"), "\u00e9");
  EXPECT_EQ(normalized(R"({"type": "NFD"})", "\u00e9"), "e\u0301");
  EXPECT_EQ(normalized(R"({"type": "NFKC"})", "\u2460"), "1");
  EXPECT_EQ(normalized(R"({"type": "NFKD"})", "\u2460\u00e9"), "1e\u0301");
}

TEST(Normalizer, StripsTheSidesItIsTold) {
  EXPECT_EQ(
      normalized(R"({"type": "Strip", "strip_left": true, "strip_right": false})", "\u3000 a "),
      "a ");
  EXPECT_EQ(normalized(R"({"type": "Strip", "strip_left": false, "strip_right": true})", " a \n"),
            " a");
}

TEST(Normalizer, LowersAndStripsAccents) {
  EXPECT_EQ(normalized(R"({"type": "Lowercase"})", "\u00c4b"), "\u00e4b");
  EXPECT_EQ(normalized(R"({"type": "StripAccents"})", "e\u0301\u00e9"), "e\u00e9");
}

TEST(Normalizer, SpellsBytes) {
  EXPECT_EQ(normalized(R"({"type": "ByteLevel"})", "a \u00e9"), "a\u0120\u00c3\u00a9");
}

TEST(Normalizer, CleansAsBertDoes) {
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer"})", "\u00c9\tA\u0001\u4e2d\u00a0b"),
            "e a \u4e2d  b");
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer", "lowercase": false})", "\u00c9"), "\u00c9");
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer", "lowercase": false, "strip_accents": true,
                           "clean_text": false, "handle_chinese_chars": false})",
                       "\u00c9\t\u4e2d"),
            "E\t\u4e2d");
}

/// The table that the trainer of SentencePiece 0.1.97 makes of the rules U+0009 and U+000A -> a
/// blank, U+200B -> nothing, U+2460 -> "1", U+FB01 -> "fi", U+FF21 -> "A", U+FF41 -> "a", "e"
/// U+0301 -> U+00E9 and U+1F1E9 U+1F1EA -> "DE".
constexpr std::string_view kCharsMap =
    "AAQAAAAgAAAJCQAACgUAAAEAAIDMAAIAgQ0AAA8AAICAEAIAiwUAAAAAAICgBQAAAwAAgKwAAgCBDQAADAAAgKF9AA"
    "AFAACAgQ0AAAoAAICHvAIAnwACAKnIAwCR8AIA8EQCAIegAgCfGAIAqgUAAAcAAIC8yAIAvTQCAB8AAAAeAAAAIQAA"
    "ACAAAAAjAAAAIgAAACUAAAAkAAAAJwAAACYAAAApAAAAKAAAACsAAAAqAAAALQAAACwAAAAvAAAALgAAADEAAAAwAA"
    "AAMwAAADIAAAA1AAAANAAAADcAAAA2AAAAOQAAADgAAAA7AAAAOgAAAD0AAAA8AAAAPwAAAD4AAABBAAAAQAAAAEMA"
    "AABCAAAARQAAAEQAAABHAAAARgAAAEkAAABIAAAASwAAAEoAAABNAAAATAAAAE8AAABOAAAAUQAAAFAAAABTAAAAUg"
    "AAAFUAAABUAAAAVwAAAFYAAABZAAAAWAAAAFsAAABaAAAAXQAAAFwAAABfAAAAXgAAAGEAAABgAAAAYwAAAGIAAABl"
    "AAAAZAAAAGcAAABmAAAAaQAAAGgAAABrAAAAagAAAG0AAABllAIAbwAAAG4AAABxAAAAcAAAAHMAAAByAAAAdQAAAH"
    "QAAAB3AAAAdgAAAHkAAAB4AAAAewAAAHoAAAB9AAAAfAAAAH8AAAB+AAAAgQAAAIAAAACDAAAAggAAAIUAAACEAAAA"
    "hwAAAIYAAACJAAAAiAAAAIsAAACKAAAAjQAAAIwAAACPAAAAjgAAAJEAAACQAAAAkwAAAJIAAACVAAAAlAAAAJcAAA"
    "CWAAAAmQAAAJgAAACbAAAAmgAAAJ0AAACcAAAAnwAAAJ4AAAChAAAAoAAAAKMAAACiAAAApQAAAKQAAACnAAAApgAA"
    "AKkAAACoAAAAqwAAAKoAAACtAAAArAAAAK8AAACuAAAAsQAAALAAAACzAAAAsgAAALUAAAC0AAAAtwAAALYAAAC5AA"
    "AAuAAAALsAAAC6AAAAvQAAALwAAAC/AAAAvgAAAMEAAADAAAAAwwAAAMIAAADFAAAAxAAAAMcAAADGAAAAyQAAAMgA"
    "AADLAAAAygAAAM0AAADMAAAAzwAAAM4AAADRAAAA0AAAANMAAADSAAAA1QAAANQAAADXAAAA1gAAANkAAADYAAAA2w"
    "AAANoAAADdAAAA3AAAAN8AAADeAAAA4QAAAOAAAADjAAAA4gAAAOUAAADkAAAA5wAAAO8cAQDpAAAA6AAAAOK0AQDq"
    "AAAA7QAAAOwAAADvAAAA7gAAAPEAAADwAAAA8wAAAPIAAAD1AAAA9AAAAPcAAAD2AAAA8MwBAPgAAAD7AAAA+gAAAP"
    "0AAAD8AAAA/wAAAP4AAAAAIAAxAEEAREUAYQBmaQDDqQA=";

TEST(Normalizer, LooksCharactersUp) {
  const std::string json =
      fmt::format(R"({{"type": "Precompiled", "precompiled_charsmap": "{}"}})", kCharsMap);
  EXPECT_EQ(normalized(json, "a\tb\nc"), "a b c");
  EXPECT_EQ(normalized(json, "\u2460\uFB01\uFF21\uFF41\u200B!"), "1fiAa!");
  EXPECT_EQ(normalized(json, "cafe\u0301e"), "caf\u00e9e");
  // The shortest beginning that is known stands for the whole cluster.
  EXPECT_EQ(normalized(json, "\uFF41\u0301"), "a");
  EXPECT_EQ(normalized(json, "e\u0301\u0301"), "\u00e9");
  // A flag has eight bytes: its code points are looked up, which are not in the table.
  EXPECT_EQ(normalized(json, "\U0001F1E9\U0001F1EA"), "\U0001F1E9\U0001F1EA");
  EXPECT_EQ(normalized(json, ""), "");
}

TEST(Normalizer, RefusesBrokenTables) {
  const auto message = [](std::string_view table) {
    return normalized(
        fmt::format(R"({{"type": "Precompiled", "precompiled_charsmap": "{}"}})", table), "ab");
  };
  EXPECT_EQ(message("****"), "The precompiled_charsmap is not base64.");
  EXPECT_EQ(message("AA=="), "The precompiled_charsmap has 1 bytes, of which its trie would be 0.");
  EXPECT_EQ(message("CAAAAAAAAAA="),
            "The precompiled_charsmap has 8 bytes, of which its trie would be 8.");
  EXPECT_EQ(message("BAAAAP////8="), "ab");  // an offset that leads nowhere
}

TEST(Normalizer, RefusesAnUnknownType) {
  EXPECT_EQ(normalized(R"({"type": "Nmt"})", ""), "The normalizer type \"Nmt\" is not supported.");
  EXPECT_EQ(normalized(R"({"type": 3})", ""), "\"type\" is an integer; a string is expected.");
}

}  // namespace
}  // namespace tokamak
