#include "protocol/requests/multipart.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"

namespace tokamak::protocol {
namespace {

constexpr size_t kMaxParts = 64;

Refusal malformed(std::string_view what) {
  return Refusal(ApiError{.message = fmt::format("The form is malformed: {}.", what)});
}

/// The value of `name` among "TYPE; name=value; other=\"value\"".
std::optional<std::string> parameter(std::string_view field, std::string_view name) {
  size_t at = field.find(';');
  while (at != field.npos) {
    ++at;
    const size_t equals = field.find('=', at);
    if (equals == field.npos) return std::nullopt;
    const std::string key = ascii_lower(trimmed(field.substr(at, equals - at)));
    std::string value;
    at = equals + 1;
    if (at < field.size() && field[at] == '"') {
      for (++at; at < field.size() && field[at] != '"'; ++at) {
        if (field[at] == '\\' && at + 1 < field.size()) ++at;
        value += field[at];
      }
      at = field.find(';', at);
    } else {
      const size_t end = field.find(';', at);
      value = trimmed(field.substr(at, end == field.npos ? end : end - at));
      at = end;
    }
    if (key == name) return value;
  }
  return std::nullopt;
}

/// The name of the part in Content-Disposition.
std::optional<std::string> name_of(std::string_view header) {
  while (!header.empty()) {
    const size_t end = header.find("\r\n");
    const std::string_view line = header.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != line.npos &&
        ascii_lower(trimmed(line.substr(0, colon))) == "content-disposition") {
      return parameter(line.substr(colon + 1), "name");
    }
    header = end == header.npos ? std::string_view() : header.substr(end + 2);
  }
  return std::nullopt;
}

}  // namespace

Answer<std::vector<FormPart>> read_form(std::string_view content_type, std::string_view body) {
  const std::string type = ascii_lower(trimmed(content_type.substr(0, content_type.find(';'))));
  if (type != "multipart/form-data") {
    return Refusal(ApiError{
        .status = 415,
        .message = fmt::format("The body is {}, expected multipart/form-data, a form with a file.",
                               type.empty() ? "of no type" : quoted(type))});
  }
  const auto boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty()) return malformed("its Content-Type has no boundary");
  const std::string mark = "\r\n--" + *boundary;
  // The first mark may stand at the very beginning.
  size_t at = 0;
  if (!body.starts_with(std::string_view(mark).substr(2))) {
    at = body.find(mark);
    if (at == body.npos) return malformed("it does not have its boundary");
    at += 2;
  }
  at += mark.size() - 2;
  std::vector<FormPart> parts;
  for (;;) {
    const std::string_view rest = body.substr(at);
    if (rest.starts_with("--")) return parts;
    const size_t line = rest.find("\r\n");
    if (line == rest.npos || !trimmed(rest.substr(0, line)).empty()) {
      return malformed("a boundary is not followed by a line end");
    }
    const std::string_view part = rest.substr(line + 2);
    const size_t end = part.find(mark);
    if (end == part.npos) return malformed("its last part does not end");
    const size_t header = part.substr(0, end).find("\r\n\r\n");
    if (header == part.npos) return malformed("a part has no header");
    auto name = name_of(part.substr(0, header));
    if (!name) return malformed("a part has no name");
    if (parts.size() == kMaxParts) return malformed("it has more than 64 parts");
    parts.push_back({*std::move(name), part.substr(header + 4, end - header - 4)});
    at += line + 2 + end + mark.size();
  }
}

const FormPart* find_part(const std::vector<FormPart>& parts, std::string_view name) {
  const auto found = std::ranges::find(parts, name, &FormPart::name);
  return found == parts.end() ? nullptr : &*found;
}

}  // namespace tokamak::protocol
