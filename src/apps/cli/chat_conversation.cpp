#include "apps/cli/chat_conversation.h"

#include <array>
#include <cerrno>
#include <cstring>

#include "base/environment.h"
#include "base/whole_file.h"
#include "engine/engine.h"

namespace tokamak::cli {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

/// A shell would know what "~/" means; here nobody else does.
std::string expanded(const std::string& path) {
  const std::string home = environment_variable("HOME");
  return path.starts_with("~/") && !home.empty() ? home + path.substr(1) : path;
}

const std::string& text_of(const Json& message, const char* name) {
  return message.find(name)->as_string();
}

Result<void> check_message(const Json& message, size_t number) {
  constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};
  const Json* role = message.find("role");
  const Json* content = message.find("content");
  if (role == nullptr || content == nullptr || !role->is_string() || !content->is_string()) {
    return invalid_input("Message {} is no object with the texts \"role\" and \"content\".",
                         number);
  }
  for (const std::string_view known : kRoles) {
    if (role->as_string() == known) return {};
  }
  return invalid_input("Message {} has the role \"{}\", expected system, user, assistant or tool.",
                       number, role->as_string());
}

Result<Json::Array> read_messages(const std::string& path) {
  TOK_TRY(const std::string text, read_text_file(path, kMaxFileBytes));
  auto json = Json::parse(text);
  if (!json) return Failure(json.error().within(path));
  const Json* list = json->is_object() ? json->find("messages") : &*json;
  if (list == nullptr || !list->is_array()) {
    return invalid_input("{}: There is no list of messages, but {}.", path,
                         kind_name(list == nullptr ? json->kind() : list->kind()));
  }
  for (size_t i = 0; i < list->as_array().size(); ++i) {
    const auto status = check_message(list->as_array()[i], i + 1);
    if (!status) return Failure(status.error().within(path));
  }
  return list->as_array();
}

}  // namespace

void Conversation::clear() {
  messages_.resize(!messages_.empty() && text_of(messages_[0], "role") == "system" ? 1 : 0);
}

void Conversation::start_over(std::string system) {
  messages_.clear();
  if (!system.empty()) add("system", std::move(system));
}

void Conversation::ask(std::string question) {
  if (last_is("user")) messages_.pop_back();
  add("user", std::move(question));
}

void Conversation::answer(std::string text) {
  add("assistant", std::move(text));
}

std::string Conversation::take_back() {
  std::string question;
  while (question.empty() && !messages_.empty() && !last_is("system")) {
    if (last_is("user")) question = text_of(messages_.back(), "content");
    messages_.pop_back();
  }
  return question;
}

Json Conversation::variables() const {
  Json json;
  return json.set("messages", messages_).set("add_generation_prompt", true);
}

Result<void> Conversation::save(const std::string& path) const {
  const std::string text = Json(messages_).dump(2) + "\n";
  errno = 0;
  WholeFile file(expanded(path));
  file.put(std::as_bytes(std::span(text)));
  if (file.good() && file.commit()) return {};
  return invalid_input("{} cannot be written: {}.", path,
                       errno == 0 ? "the disk is full" : std::strerror(errno));
}

Result<void> Conversation::load(const std::string& path) {
  TOK_TRY(messages_, read_messages(expanded(path)));
  return {};
}

void Conversation::add(const char* role, std::string content) {
  Json message;
  message.set("role", role).set("content", std::move(content));
  messages_.push_back(std::move(message));
}

bool Conversation::last_is(const char* role) const {
  return !messages_.empty() && text_of(messages_.back(), "role") == role;
}

}  // namespace tokamak::cli
