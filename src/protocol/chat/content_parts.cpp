#include "protocol/chat/content_parts.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "protocol/chat/chat_parts.h"
#include "protocol/chat/image_parts.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kTexts[] = {"text", "input_text", "output_text", "summary_text",
                                       "reasoning_text"};
constexpr std::string_view kThoughts[] = {"thinking", "redacted_thinking", "reasoning"};

struct PartsReader {
  std::string_view field;
  std::string* reasoning;
  Json::Array& parts;

  Answer<void> add_all(const Json& content, const std::string& where);
  Answer<void> add(const Json& part, const std::string& where);

 private:
  void add_text(std::string_view text) { parts.push_back(text_part(text)); }
  Answer<std::string> member(const Json& object, std::string_view name,
                             const std::string& where) const {
    return text_member(object, name, field, where);
  }
  Answer<void> add_image_url(const Json& part, const std::string& where);
  Answer<void> add_source(const Json& block, const std::string& where);
  Answer<void> add_document(const Json& block, const std::string& where);
  Answer<void> add_search_result(const Json& block, const std::string& where);
  Answer<void> add_file(const Json& file, const std::string& where);
  Answer<void> add_file_bytes(std::string_view media_type, std::string_view base64,
                              const std::string& where);
};

Answer<void> PartsReader::add_all(const Json& content, const std::string& where) {
  if (content.is_null()) return {};
  if (content.is_string()) {
    add_text(content.as_string());
    return {};
  }
  if (!content.is_array()) {
    return wrong(field, "{} is {}, expected a text or a list of parts.", where,
                 kind_name(content.kind()));
  }
  for (size_t i = 0; i < content.as_array().size(); ++i) {
    TOK_TRY(add(content.as_array()[i], fmt::format("{}[{}]", where, i)));
  }
  return {};
}

Answer<void> PartsReader::add(const Json& part, const std::string& where) {
  if (part.is_string()) {
    add_text(part.as_string());
    return {};
  }
  const std::string type = type_of(part);
  if (std::ranges::find(kTexts, type) != std::end(kTexts)) {
    TOK_TRY(const std::string text, member(part, "text", where));
    add_text(text);
  } else if (type == "refusal") {
    TOK_TRY(const std::string text, member(part, "refusal", where));
    add_text(text);
  } else if (std::ranges::find(kThoughts, type) != std::end(kThoughts) && reasoning != nullptr) {
    // One that is redacted can be read by nobody but the service that made it.
    for (const char* name : {"thinking", "text"}) {
      if (const std::string* text = text_in(part, name)) add_line(*reasoning, *text);
    }
  } else if (type == "image_url" || type == "input_image") {
    TOK_TRY(add_image_url(part, where));
  } else if (type == "image") {
    TOK_TRY(add_source(part, where));
  } else if (type == "document") {
    TOK_TRY(add_document(part, where));
  } else if (type == "search_result") {
    TOK_TRY(add_search_result(part, where));
  } else if (type == "file") {
    const Json* file = part.find("file");
    TOK_TRY(add_file(file == nullptr ? part : *file, where));
  } else if (type == "input_file") {
    TOK_TRY(add_file(part, where));
  } else if (type == "tool_reference") {
    TOK_TRY(const std::string name, member(part, "tool_name", where));
    add_text(name);
  } else {
    return wrong(field, "{} is {}, expected a part with a text or an image.", where, quoted(part));
  }
  return {};
}

/// {"image_url": {"url", "detail"}}, or the address itself as `image_url`.
Answer<void> PartsReader::add_image_url(const Json& part, const std::string& where) {
  const Json* image = part.find("image_url");
  const bool is_text = image != nullptr && image->is_string();
  const Json* url = is_text || image == nullptr ? image : image->find("url");
  if (url == nullptr || !url->is_string()) {
    return wrong(field, "{}.image_url is missing or no text; files are not stored here.", where);
  }
  Json made = image_part(url->as_string());
  const Json* detail = is_text ? part.find("detail") : image->find("detail");
  if (detail != nullptr) made.find("image_url")->set("detail", *detail);
  parts.push_back(std::move(made));
  return {};
}

/// Anthropic's {"source": {"type", "media_type", "data"}}, or MCP's {"data", "mimeType"}.
Answer<void> PartsReader::add_source(const Json& block, const std::string& where) {
  const Json* source = block.find("source");
  if (source == nullptr) {
    const std::string* data = text_in(block, "data");
    const std::string* media = text_in(block, "mimeType");
    if (data == nullptr) {
      return wrong(field, "{}.source is missing, expected the type \"base64\", {}.", where,
                   "with media_type and data");
    }
    parts.push_back(image_part(data_url(media == nullptr ? "image" : *media, *data)));
    return {};
  }
  const std::string type = type_of(*source), place = where + ".source";
  if (type == "base64") {
    TOK_TRY(const std::string data, member(*source, "data", place));
    const std::string* media = text_in(*source, "media_type");
    parts.push_back(image_part(data_url(media == nullptr ? "image" : *media, data)));
    return {};
  }
  if (type == "url") {
    TOK_TRY(std::string url, member(*source, "url", place));
    parts.push_back(image_part(std::move(url)));
    return {};
  }
  return wrong(field, "{} is {}, expected the type \"base64\", with media_type and data.", place,
               quoted(*source));
}

Answer<void> PartsReader::add_document(const Json& block, const std::string& where) {
  const Json* source = block.find("source");
  const std::string place = where + ".source";
  if (source == nullptr) return wrong(field, "{} is missing.", place);
  for (const char* name : {"title", "context"}) {
    if (const std::string* text = text_in(block, name)) add_text(*text);
  }
  const std::string type = type_of(*source);
  if (type == "text") {
    TOK_TRY(const std::string data, member(*source, "data", place));
    add_text(data);
    return {};
  }
  if (const Json* content = source->find("content"); type == "content" && content != nullptr) {
    return add_all(*content, place + ".content");
  }
  if (type == "base64") {
    TOK_TRY(const std::string data, member(*source, "data", place));
    const std::string* media = text_in(*source, "media_type");
    return add_file_bytes(media == nullptr ? "" : *media, data, place + ".data");
  }
  return wrong(field, "{} is {}, but this server fetches and keeps no files: send the text itself.",
               place, quoted(*source));
}

Answer<void> PartsReader::add_search_result(const Json& block, const std::string& where) {
  for (const char* name : {"title", "source"}) {
    if (const std::string* text = text_in(block, name)) add_text(*text);
  }
  const Json* content = block.find("content");
  return content == nullptr ? Answer<void>() : add_all(*content, where + ".content");
}

/// OpenAI's {"file_data": "data:text/plain;base64,...", "filename"}.
Answer<void> PartsReader::add_file(const Json& file, const std::string& where) {
  const std::string* data = text_in(file, "file_data");
  if (data == nullptr) {
    return wrong(field, "{} is a file without file_data; files are not stored here.", where);
  }
  if (const std::string* name = text_in(file, "filename")) add_text(*name);
  const size_t comma = data->starts_with("data:") ? data->find(',') : std::string::npos;
  if (comma == std::string::npos) return add_file_bytes("", *data, where + ".file_data");
  const std::string_view head = std::string_view(*data).substr(5, comma - 5);
  return add_file_bytes(head.substr(0, head.find(';')), std::string_view(*data).substr(comma + 1),
                        where + ".file_data");
}

Answer<void> PartsReader::add_file_bytes(std::string_view media_type, std::string_view base64,
                                         const std::string& where) {
  const std::string media = ascii_lower(media_type);
  if (media.starts_with("image/")) {
    parts.push_back(image_part(data_url(media, base64)));
    return {};
  }
  const auto bytes = bytes_of_loose_base64(base64);
  if (!bytes) return wrong(field, "{} is no base64.", where);
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (text.starts_with("%PDF-") || !is_valid_utf8(text) || text.find('\0') != text.npos) {
    return wrong(field, "{} is {}, which is not read here: send its text, or its pages as images.",
                 where, text.starts_with("%PDF-") ? "a PDF" : "a file that is no text in UTF-8");
  }
  add_text(text);
  return {};
}

}  // namespace

Answer<Json> chat_content(const Json& content, std::string_view field, const std::string& where,
                          std::string* reasoning) {
  Json::Array parts;
  PartsReader reader{field, reasoning, parts};
  TOK_TRY(reader.add_all(content, where));
  return content_of(std::move(parts));
}

Answer<void> add_parts(const Json& part, std::string_view field, const std::string& where,
                       Json::Array& parts) {
  return PartsReader{field, nullptr, parts}.add(part, where);
}

Json content_of(Json::Array parts) {
  const bool has_image = std::ranges::any_of(parts, is_image_part);
  Json all(std::move(parts));
  return has_image ? all : Json(text_of_content(all));
}

Answer<std::string> text_content(const Json& content, std::string_view field,
                                 const std::string& where) {
  TOK_TRY(const Json read, chat_content(content, field, where));
  if (read.is_string()) return read.as_string();
  return wrong(field, "{} has an image, which only messages of the user and results of tools have.",
               where);
}

std::string text_of_content(const Json& content) {
  if (content.is_string()) return content.as_string();
  std::string out;
  if (!content.is_array()) return out;
  for (const Json& part : content.as_array()) {
    if (&part != &content.as_array().front()) out += "\n";
    const std::string* text = text_in(part, "text");
    out += text == nullptr ? "[image]" : *text;
  }
  return out;
}

const std::string* text_in(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found != nullptr && found->is_string() ? &found->as_string() : nullptr;
}

std::string type_of(const Json& object) {
  const std::string* type = text_in(object, "type");
  return type == nullptr ? "" : *type;
}

void add_line(std::string& text, std::string_view more) {
  if (more.empty()) return;
  if (!text.empty()) text += "\n";
  text += more;
}

}  // namespace tokamak::protocol
