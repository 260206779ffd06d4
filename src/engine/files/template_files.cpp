#include "engine/files/template_files.h"

namespace tokamak {

Result<std::string> read_chat_template(const ReadText& read) {
  constexpr const char* kJson = "chat_template.json";
  TOK_TRY(std::string jinja, read("chat_template.jinja"));
  if (!jinja.empty()) return jinja;
  TOK_TRY(const std::optional<Json> json, read_json(read, kJson));
  if (!json) return std::string();
  ConfigReader reader(*json, kJson);
  const std::string text = reader.word("chat_template");
  TOK_TRY(reader.status());
  return text;
}

}  // namespace tokamak
