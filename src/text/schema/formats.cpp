#include "text/schema/formats.h"

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "text/grammar/regular_expression.h"

namespace tokamak::schema {
namespace {

// RFC 3339: days by month, 29 February in leap years of the Gregorian calendar. Year 0 is none to
// many programs.
const std::string kLeap =
    "((([0-9]{2}(0[48]|[2468][048]|[13579][26]))|((0[48]|[2468][048]|[13579][26])00)))";
const std::string kYear = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)";
const std::string kDate =
    "(" + kYear +
    "-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]"
    "|30)|02-(0[1-9]|1[0-9]|2[0-8]))|" +
    kLeap + "-02-29)";
const std::string kTime =
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";

// ISO 8601, of RFC 3339 appendix A.
const std::string kDurationTime = "T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S)";
const std::string kDuration = "P([0-9]+W|" + kDurationTime +
                              "|([0-9]+Y([0-9]+M([0-9]+D)?)?|[0-9]+M([0-9]+D)?|[0-9]+D)(" +
                              kDurationTime + ")?)";

// RFC 1123: labels of at most 63 characters, of which no two hyphens follow each other: such names
// (xn--) have rules of their own.
const std::string kLabel = "[A-Za-z0-9]([A-Za-z0-9]|-[A-Za-z0-9]){0,30}";
const std::string kHostname = kLabel + "(\\." + kLabel + "){0,3}";

const std::string kByte = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const std::string kIpv4 = "(" + kByte + "\\.){3}" + kByte;

// RFC 4291, with the zeros that :: stands for at every place.
const std::string kGroup = "[0-9A-Fa-f]{1,4}";
std::string ipv6() {
  std::string all = "((" + kGroup + ":){7}" + kGroup;
  for (int before = 0; before <= 7; ++before) {
    const int after = 7 - before;  // at most
    all += "|";
    if (before > 0) {
      all += "(" + kGroup + ":){" + std::to_string(before - 1) + "}" + kGroup;
    }
    all += "::";
    if (after > 0) {
      all += "(" + kGroup + "(:" + kGroup + "){0," + std::to_string(after - 1) + "})?";
    }
  }
  return all + ")";
}

// RFC 3986.
const std::string kUnreserved = "A-Za-z0-9._~\\-";
const std::string kPercent = "%[0-9A-Fa-f]{2}";
const std::string kPathChar = "([" + kUnreserved + "!$&'()*+,;=:@]|" + kPercent + ")";
const std::string kSegmentNoColon = "([" + kUnreserved + "!$&'()*+,;=@]|" + kPercent + ")+";
const std::string kAuthority = "(([" + kUnreserved + "!$&'()*+,;=:]|" + kPercent + ")*@)?([" +
                               kUnreserved + "!$&'()*+,;=]|" + kPercent + ")*(:[0-9]{0,5})?";
const std::string kPath = "(/" + kPathChar + "*)*";
const std::string kRest = "(\\?(" + kPathChar + "|[/?])*)?(#(" + kPathChar + "|[/?])*)?";
const std::string kUri = "[A-Za-z][A-Za-z0-9+.-]*:(//" + kAuthority + kPath + "|/(" + kPathChar +
                         "+" + kPath + ")?|" + kPathChar + "+" + kPath + ")" + kRest;
const std::string kUriReference = "(" + kUri + "|(//" + kAuthority + kPath + "|/(" + kPathChar +
                                  "+" + kPath + ")?|" + kSegmentNoColon + kPath + ")?" + kRest +
                                  ")";

// RFC 6570.
const std::string kVariable =
    "([A-Za-z0-9_]|" + kPercent + ")(\\.?([A-Za-z0-9_]|" + kPercent + "))*(:[1-9][0-9]{0,3}|\\*)?";
const std::string kUriTemplate = "([!#$&()*+,./0-9:;=?@A-Z\\[\\]_a-z~-]|" + kPercent +
                                 "|\\{[+#./;?&]?" + kVariable + "(," + kVariable + ")*\\})*";

// RFC 5321: dots between atoms; a name with at least one dot or one label.
const std::string kAtom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}";
const std::string kEmail = kAtom + "(\\." + kAtom + "){0,2}@" + kHostname;

// A part of all regular expressions: characters, groups of them, repetitions.
const std::string kRegexAtom =
    "([A-Za-z0-9 _,:;@#%&=!<>/'\"~`-]|\\.|\\\\[dwsDWStnr.^$*+?()\\[\\]{}|/\\\\]|"
    "\\[\\^?[A-Za-z0-9_]+\\])";
const std::string kRegex = "\\^?(" + kRegexAtom + "[*+?]?)*(\\|(" + kRegexAtom + "[*+?]?)*)*\\$?";

const std::vector<std::pair<std::string_view, std::string>>& table() {
  static const std::vector<std::pair<std::string_view, std::string>> formats = {
      {"date", kDate},
      {"time", kTime},
      {"date-time", kDate + "T" + kTime},
      {"duration", kDuration},
      {"email", kEmail},
      {"idn-email", kEmail},
      {"hostname", kHostname},
      {"idn-hostname", kHostname},
      {"ipv4", kIpv4},
      {"ipv6", ipv6()},
      {"uri", kUri},
      {"iri", kUri},
      {"uri-reference", kUriReference},
      {"iri-reference", kUriReference},
      {"uri-template", kUriTemplate},
      {"uuid", "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"},
      {"json-pointer", "(/([^/~]|~[01])*)*"},
      {"relative-json-pointer", "(0|[1-9][0-9]*)(#|(/([^/~]|~[01])*)*)"},
      {"regex", kRegex},
  };
  return formats;
}

constexpr size_t kFormats = 19;

/// Each is a static object of its own, so that no more are made than are asked for.
template <size_t kIndex>
const grammar::Automaton& made() {
  static const auto automaton =
      grammar::automaton_of(table()[kIndex].second, grammar::Match::kWhole);
  TOK_CHECK(automaton.has_value());
  return *automaton;
}

template <size_t... kIndices>
const grammar::Automaton& made(size_t index, std::index_sequence<kIndices...>) {
  using Maker = const grammar::Automaton& (*)();
  constexpr Maker kMakers[] = {made<kIndices>...};
  return kMakers[index]();
}

}  // namespace

const grammar::Automaton* automaton_of_format(std::string_view name) {
  TOK_CHECK(table().size() == kFormats);
  for (size_t i = 0; i < kFormats; ++i) {
    if (table()[i].first == name) return &made(i, std::make_index_sequence<kFormats>());
  }
  return nullptr;
}

}  // namespace tokamak::schema
