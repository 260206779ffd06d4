// The functions that every template can call.
#include <algorithm>
#include <ctime>

#include "base/system/calendar.h"
#include "text/template/arguments.h"
#include "text/template/filters.h"
#include "text/template/print.h"

namespace tokamak::jinja {
namespace {

Result<Value> range(Runtime& runtime, const Value&, const Arguments& given) {
  const size_t count = given.positional.size();
  if (count < 1 || count > 3 || !given.named.empty()) {
    return invalid_input("range expects 1 to 3 positional arguments.");
  }
  int64_t part[3] = {0, 0, 1};
  for (size_t i = 0; i < count; ++i) {
    TOK_TRY(part[count == 1 ? 1 : i], integer_or(given.positional[i], "range", 0));
  }
  const auto [start, stop, step] = part;
  if (step == 0) return invalid_input("range() arg 3 must not be zero");
  const bool is_empty = step > 0 ? start >= stop : start <= stop;
  // In unsigned arithmetic the distance and the step cannot overflow.
  const uint64_t distance =
      step > 0 ? uint64_t(stop) - uint64_t(start) : uint64_t(start) - uint64_t(stop);
  const uint64_t stride = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  const uint64_t size = is_empty ? 0 : (distance - 1) / stride + 1;
  if (size > uint64_t(kMaxRange)) {
    return invalid_input("Range too big. Ranges may have at most {} items.", kMaxRange);
  }
  std::vector<Value> items;
  for (uint64_t i = 0; i < size; ++i) {
    items.push_back(Value::integer(int64_t(uint64_t(start) + i * uint64_t(step))));
  }
  return runtime.sequence(std::move(items), Sequence::Form::kRange);
}

/// The members of an optional dict and of the named arguments.
Result<Dict> collect(Runtime& runtime, std::string_view owner, const Arguments& given) {
  Dict made;
  if (given.positional.size() > 1) {
    return invalid_input("{} expected at most 1 argument, got {}", owner, given.positional.size());
  }
  if (!given.positional.empty()) {
    if (given.positional[0].is_dict()) {
      for (const auto& [key, value] : given.positional[0].as_dict().items) made.set(key, value);
    } else {
      TOK_TRY(const auto pairs, runtime.iterate(given.positional[0]));
      for (const Value& pair : pairs) {
        TOK_TRY(const auto parts, runtime.iterate(pair));
        if (parts.size() != 2 || !Dict::can_be_key(parts[0])) {
          return invalid_input("{} needs a dict or pairs of a key and a value.", owner);
        }
        made.set(parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : given.named) {
    TOK_TRY(const Value key, runtime.text(std::string(name)));
    made.set(key, value);
  }
  return made;
}

Result<Value> dict(Runtime& runtime, const Value&, const Arguments& given) {
  TOK_TRY(Dict made, collect(runtime, "dict", given));
  return runtime.dict(std::move(made));
}

Result<Value> space(Runtime& runtime, const Value&, const Arguments& given) {
  TOK_TRY(Dict made, collect(runtime, "namespace", given));
  return runtime.space(std::move(made));
}

Result<Value> raise_exception(Runtime& runtime, const Value&, const Arguments& given) {
  TOK_TRY(const auto all, bind("raise_exception", given, {"message"}, 1));
  TOK_TRY(const std::string message, to_str(runtime, all[0]));
  return invalid_input("{}{}", kRaisedPrefix, message);
}

/// The parts that a language has its own words and order for, in English whatever the locale of the
/// program around; "" for all else.
std::string english_part(char kind, const std::tm& time) {
  static constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                               "Thursday", "Friday", "Saturday"};
  static constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                                 "May",       "June",     "July",     "August",
                                                 "September", "October",  "November", "December"};
  const std::string_view day = kDays[time.tm_wday], month = kMonths[time.tm_mon];
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", time.tm_hour, time.tm_min, time.tm_sec);
  const std::string_view half = time.tm_hour < 12 ? "AM" : "PM";
  const int hour = time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12;
  const int year = time.tm_year + 1900;
  switch (kind) {
    case 'a':
      return std::string(day.substr(0, 3));
    case 'A':
      return std::string(day);
    case 'b':
    case 'h':
      return std::string(month.substr(0, 3));
    case 'B':
      return std::string(month);
    case 'p':
      return std::string(half);
    case 'c':
      return fmt::format("{:.3} {:.3} {:2} {} {}", day, month, time.tm_mday, clock, year);
    case 'r':
      return fmt::format("{:02}{} {}", hour, clock.substr(2), half);
    case 'x':
      return fmt::format("{:02}/{:02}/{:02}", time.tm_mon + 1, time.tm_mday, year % 100);
    case 'X':
      return clock;
    default:
      return "";
  }
}

Result<Value> strftime_now(Runtime& runtime, const Value&, const Arguments& given) {
  TOK_TRY(const auto all, bind("strftime_now", given, {"format"}, 1));
  TOK_TRY(const std::string_view format, text_or(all[0], "format", ""));
  TOK_TRY(runtime.spend_steps(1 + format.size()));
  TOK_TRY(runtime.check_room(format.size() * 16));
  const std::time_t now = runtime.now ? std::time_t(*runtime.now) : std::time(nullptr);
  const auto parts = runtime.now ? utc_time(now) : local_time(now);
  if (!parts) {
    return invalid_input("The time cannot be expressed as a date.");
  }
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    ++i;
    const bool unpadded = format[i] == '-' && i + 1 < format.size();  // "%-d": without zeros
    if (unpadded) ++i;
    if (std::string_view("aAbBcdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%").find(format[i]) ==
        std::string_view::npos) {
      return invalid_input("strftime_now does not know the format \"%{}\".", format[i]);
    }
    const char single[] = {'%', format[i], '\0'};
    char shown[128];
    const std::string english = english_part(format[i], *parts);
    std::string_view text = english;
    if (english.empty()) text = {shown, std::strftime(shown, sizeof shown, single, &*parts)};
    while (unpadded && text.size() > 1 && (text[0] == '0' || text[0] == ' ')) text.remove_prefix(1);
    out += text;
  }
  return runtime.text(std::move(out));
}

Result<Value> join_next(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(bind("joiner", given, {}));
  static const std::string kUsed("used");
  Dict& state = self.as_namespace().attributes;
  if (state.find(kUsed) != nullptr) return *state.find("separator");
  state.set(Value::text(&kUsed), Value::boolean(true));
  return runtime.text("");
}

/// joiner(', '): nothing at its first call, the separator at all others.
Result<Value> joiner(Runtime& runtime, const Value&, const Arguments& given) {
  TOK_TRY(const auto all, bind("joiner", given, {"sep"}));
  TOK_TRY(const Value key, runtime.text("separator"));
  TOK_TRY(const Value comma, runtime.text(", "));
  Dict state;
  state.set(key, all[0].is_undefined() ? comma : all[0]);
  TOK_TRY(const Value held, runtime.space(std::move(state)));
  return runtime.callable({.name = "joiner", .builtin = join_next, .self = held});
}

/// Moves a cycler to item `place`, which becomes its current one. What it goes by is out of reach
/// of the template, which may set what is shown.
void turn_to(const Value& state, size_t place) {
  static const std::string kPlace("pos"), kCurrent("current");
  Dict& hidden = state.as_namespace().attributes;
  Dict& shown = hidden.find("shown")->as_namespace().attributes;
  const Value at = Value::integer(int64_t(place));
  const Value current = hidden.find("items")->as_sequence().items[place];
  hidden.set(Value::text(&kPlace), at);
  shown.set(Value::text(&kPlace), at);
  shown.set(Value::text(&kCurrent), current);
}

Result<Value> cycle_next(Runtime&, const Value& self, const Arguments& given) {
  TOK_TRY(bind("next", given, {}));
  const Dict& state = self.as_namespace().attributes;
  const std::vector<Value>& items = state.find("items")->as_sequence().items;
  const size_t place = size_t(state.find("pos")->as_integer());
  turn_to(self, (place + 1) % items.size());
  return items[place];
}

Result<Value> cycle_reset(Runtime&, const Value& self, const Arguments& given) {
  TOK_TRY(bind("reset", given, {}));
  turn_to(self, 0);
  return Value::none();
}

/// cycler('odd', 'even'): one after another by next(), and again from the first.
Result<Value> cycler(Runtime& runtime, const Value&, const Arguments& given) {
  if (given.positional.empty() || !given.named.empty()) {
    return invalid_input("cycler expects at least one item.");
  }
  static const std::string kItems("items"), kShown("shown"), kNext("next"), kReset("reset");
  TOK_TRY(const Value items, runtime.sequence(given.positional, Sequence::Form::kTuple));
  TOK_TRY(const Value state, runtime.space({}));
  TOK_TRY(const Value shown, runtime.space({}));
  TOK_TRY(const Value next,
          runtime.callable({.name = "next", .builtin = cycle_next, .self = state}));
  TOK_TRY(const Value reset,
          runtime.callable({.name = "reset", .builtin = cycle_reset, .self = state}));
  state.as_namespace().attributes.set(Value::text(&kItems), items);
  state.as_namespace().attributes.set(Value::text(&kShown), shown);
  turn_to(state, 0);
  Dict& attributes = shown.as_namespace().attributes;
  attributes.set(Value::text(&kItems), items);
  attributes.set(Value::text(&kNext), next);
  attributes.set(Value::text(&kReset), reset);
  return shown;
}

struct Function {
  std::string_view name;
  Builtin builtin;
};

constexpr Function kFunctions[] = {
    {"range", range},
    {"dict", dict},
    {"namespace", space},
    {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
    {"joiner", joiner},
    {"cycler", cycler},
};

}  // namespace

Builtin find_function(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &Function::name);
  return found == std::end(kFunctions) ? nullptr : found->builtin;
}

}  // namespace tokamak::jinja
