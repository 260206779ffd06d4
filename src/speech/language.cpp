#include "speech/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"

namespace tokamak {
namespace {

struct Named {
  std::string_view name, code;
};

/// Whisper's names and other names of the same, as openai-whisper's tokenizer has them.
constexpr Named kNames[] = {
    {"afrikaans", "af"},
    {"albanian", "sq"},
    {"amharic", "am"},
    {"arabic", "ar"},
    {"armenian", "hy"},
    {"assamese", "as"},
    {"azerbaijani", "az"},
    {"bashkir", "ba"},
    {"basque", "eu"},
    {"belarusian", "be"},
    {"bengali", "bn"},
    {"bosnian", "bs"},
    {"breton", "br"},
    {"bulgarian", "bg"},
    {"burmese", "my"},
    {"cantonese", "yue"},
    {"castilian", "es"},
    {"catalan", "ca"},
    {"chinese", "zh"},
    {"croatian", "hr"},
    {"czech", "cs"},
    {"danish", "da"},
    {"dutch", "nl"},
    {"english", "en"},
    {"estonian", "et"},
    {"faroese", "fo"},
    {"finnish", "fi"},
    {"flemish", "nl"},
    {"french", "fr"},
    {"galician", "gl"},
    {"georgian", "ka"},
    {"german", "de"},
    {"greek", "el"},
    {"gujarati", "gu"},
    {"haitian", "ht"},
    {"haitian creole", "ht"},
    {"hausa", "ha"},
    {"hawaiian", "haw"},
    {"hebrew", "he"},
    {"hindi", "hi"},
    {"hungarian", "hu"},
    {"icelandic", "is"},
    {"indonesian", "id"},
    {"italian", "it"},
    {"japanese", "ja"},
    {"javanese", "jw"},
    {"kannada", "kn"},
    {"kazakh", "kk"},
    {"khmer", "km"},
    {"korean", "ko"},
    {"lao", "lo"},
    {"latin", "la"},
    {"latvian", "lv"},
    {"letzeburgesch", "lb"},
    {"lingala", "ln"},
    {"lithuanian", "lt"},
    {"luxembourgish", "lb"},
    {"macedonian", "mk"},
    {"malagasy", "mg"},
    {"malay", "ms"},
    {"malayalam", "ml"},
    {"maltese", "mt"},
    {"mandarin", "zh"},
    {"maori", "mi"},
    {"marathi", "mr"},
    {"moldavian", "ro"},
    {"moldovan", "ro"},
    {"mongolian", "mn"},
    {"myanmar", "my"},
    {"nepali", "ne"},
    {"norwegian", "no"},
    {"nynorsk", "nn"},
    {"occitan", "oc"},
    {"panjabi", "pa"},
    {"pashto", "ps"},
    {"persian", "fa"},
    {"polish", "pl"},
    {"portuguese", "pt"},
    {"punjabi", "pa"},
    {"pushto", "ps"},
    {"romanian", "ro"},
    {"russian", "ru"},
    {"sanskrit", "sa"},
    {"serbian", "sr"},
    {"shona", "sn"},
    {"sindhi", "sd"},
    {"sinhala", "si"},
    {"sinhalese", "si"},
    {"slovak", "sk"},
    {"slovenian", "sl"},
    {"somali", "so"},
    {"spanish", "es"},
    {"sundanese", "su"},
    {"swahili", "sw"},
    {"swedish", "sv"},
    {"tagalog", "tl"},
    {"tajik", "tg"},
    {"tamil", "ta"},
    {"tatar", "tt"},
    {"telugu", "te"},
    {"thai", "th"},
    {"tibetan", "bo"},
    {"turkish", "tr"},
    {"turkmen", "tk"},
    {"ukrainian", "uk"},
    {"urdu", "ur"},
    {"uzbek", "uz"},
    {"valencian", "ca"},
    {"vietnamese", "vi"},
    {"welsh", "cy"},
    {"yiddish", "yi"},
    {"yoruba", "yo"},
    // Codes that stand for one of Whisper's in locales.
    {"jv", "jw"},
    {"nb", "no"},
    {"fil", "tl"},
    {"iw", "he"},
    {"in", "id"},
    {"cmn", "zh"},
};

}  // namespace

std::string_view without_marks(std::string_view token) {
  const bool has_marks = token.starts_with("<|") && token.ends_with("|>");
  return has_marks ? token.substr(2, token.size() - 4) : token;
}

Result<std::string> language_code(std::string_view text, const std::set<std::string>& known) {
  const std::string word = ascii_lower(without_marks(trimmed(text)));
  if (word.empty() || word == "auto") return std::string();
  const auto meant = [&](std::string_view one) -> std::optional<std::string> {
    if (known.contains(std::string(one))) return std::string(one);
    const auto* const found = std::ranges::find(kNames, one, &Named::name);
    if (found == std::end(kNames) || !known.contains(std::string(found->code))) return std::nullopt;
    return std::string(found->code);
  };
  if (auto code = meant(word)) return *code;
  if (auto code = meant(word.substr(0, word.find_first_of("-_.@")))) return *code;
  return fail(ErrorCode::kUsage,
              "The language is \"{}\", which the model does not know; it knows {}.", text,
              fmt::join(known, ", "));
}

}  // namespace tokamak
