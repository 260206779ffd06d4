#include "protocol/chat/image_parts.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/percent.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kField = "messages";

Answer<void> check_detail(const Json& image, const std::string& where) {
  const Json* detail = image.find("detail");
  if (detail == nullptr || detail->is_null()) return {};
  for (const char* known : {"auto", "low", "high", "original"}) {
    if (*detail == Json(known)) return {};
  }
  return wrong(kField, "{}.detail is {}, expected auto, low, high or original.", where,
               quoted(*detail));
}

/// The part after "data:...;base64,"; an address without any scheme is all of it.
Answer<std::string> base64_in(std::string_view url, const std::string& where) {
  constexpr std::string_view kScheme = "data:", kBase64 = "base64";
  url = trimmed(url);
  if (url.find(':') == url.npos) return std::string(url);
  const std::string scheme = ascii_lower(url.substr(0, url.find(':') + 1));
  if (scheme == "http:" || scheme == "https:") {
    return wrong(kField,
                 "{} is {}, but this server fetches nothing: send the image itself, as "
                 "\"data:image/png;base64,...\".",
                 where, quoted(Json(url)));
  }
  const size_t comma = url.find(',');
  const size_t last = std::min(url.substr(0, comma).rfind(';'), url.size());
  const bool is_data = scheme == kScheme && comma != url.npos && last < comma &&
                       ascii_lower(trimmed(url.substr(last + 1, comma - last - 1))) == kBase64;
  if (is_data) return percent_decoded(url.substr(comma + 1));
  return wrong(kField, "{} is {}, expected an image as \"data:image/png;base64,...\".", where,
               quoted(Json(url)));
}

}  // namespace

Json image_part(std::string url) {
  Json image(Json::Object{{"url", std::move(url)}});
  return Json(Json::Object{{"type", "image_url"}, {"image_url", std::move(image)}});
}

std::string data_url(std::string_view media_type, std::string_view base64) {
  if (base64.starts_with("data:")) return std::string(base64);
  return fmt::format("data:{};base64,{}", media_type, base64);
}

bool is_image_part(const Json& part) {
  const Json* type = part.find("type");
  return type != nullptr && *type == Json("image_url");
}

Answer<std::vector<std::byte>> image_bytes(const Json& part, const std::string& where) {
  const Json* image = part.find("image_url");
  const Json* url = image == nullptr ? nullptr : image->find("url");
  if (url == nullptr || !url->is_string()) {
    return wrong(kField, "{}.image_url.url is missing or no text.", where);
  }
  TOK_TRY(check_detail(*image, where + ".image_url"));
  TOK_TRY(const std::string base64, base64_in(url->as_string(), where + ".image_url.url"));
  auto bytes = bytes_of_loose_base64(base64);
  if (!bytes || bytes->empty()) {
    return wrong(kField, "{}.image_url.url is {}, which is no image in base64.", where,
                 quoted(*url));
  }
  return *std::move(bytes);
}

Answer<std::vector<ImageFile>> image_files(const Json& messages) {
  std::vector<ImageFile> out;
  const Json::Array& all = messages.as_array();
  for (size_t i = 0; i < all.size(); ++i) {
    const Json* content = all[i].find("content");
    if (content == nullptr || !content->is_array()) continue;
    const Json::Array& parts = content->as_array();
    for (size_t k = 0; k < parts.size(); ++k) {
      if (!is_image_part(parts[k])) continue;
      if (out.size() == kMaxImages) {
        return wrong(kField, "messages has more than {} images, which is the most of a request.",
                     kMaxImages);
      }
      const std::string where = fmt::format("messages[{}].content[{}]", i, k);
      TOK_TRY(std::vector<std::byte> bytes, image_bytes(parts[k], where));
      out.push_back({where, std::move(bytes)});
    }
  }
  return out;
}

}  // namespace tokamak::protocol
