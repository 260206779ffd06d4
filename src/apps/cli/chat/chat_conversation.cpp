#include "apps/cli/chat/chat_conversation.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "apps/cli/line/terminal.h"
#include "base/environment.h"
#include "base/whole_file.h"
#include "engine/engine.h"

namespace tokamak::cli {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

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
  const Json* images = message.find("images");
  const auto is_text = [](const Json& one) { return one.is_string(); };
  if (images != nullptr &&
      (!images->is_array() || !std::ranges::all_of(images->as_array(), is_text))) {
    return invalid_input("Message {} has images that are no list of paths.", number);
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
  if (!json) {
    return invalid_input("{} is no saved conversation, which is JSON: {}", path,
                         json.error().message);
  }
  const Json* list = json->is_object() ? json->find("messages") : &*json;
  if (list == nullptr || !list->is_array()) {
    return invalid_input("{} is no saved conversation: expected a list of messages, found {}.",
                         path, kind_name(list == nullptr ? json->kind() : list->kind()));
  }
  for (size_t i = 0; i < list->as_array().size(); ++i) {
    const auto status = check_message(list->as_array()[i], i + 1);
    if (!status) return Failure(status.error().within(path));
  }
  return list->as_array();
}

}  // namespace

std::string expanded(const std::string& path) {
  const std::string home = environment_variable("HOME");
  return path.starts_with("~/") && !home.empty() ? home + path.substr(1) : path;
}

void Conversation::clear() {
  messages_.resize(!messages_.empty() && text_of(messages_[0], "role") == "system" ? 1 : 0);
  images_.resize(messages_.size());
}

void Conversation::start_over(std::string system) {
  messages_.clear();
  images_.clear();
  if (!system.empty()) add("system", std::move(system));
}

void Conversation::ask(Question question) {
  if (last_is("user")) drop_last();
  add("user", std::move(question.text), std::move(question.images));
}

void Conversation::answer(std::string text, std::string reasoning) {
  add("assistant", std::move(text));
  if (!reasoning.empty()) messages_.back().set("reasoning_content", std::move(reasoning));
}

Question Conversation::take_back() {
  Question question;
  while (question.text.empty() && !messages_.empty() && !last_is("system")) {
    if (last_is("user")) {
      question = {text_of(messages_.back(), "content"), std::move(images_.back())};
    }
    drop_last();
  }
  return question;
}

bool Conversation::forget_oldest() {
  const auto is_question = [](const Json& message) { return text_of(message, "role") == "user"; };
  const auto first = std::ranges::find_if(messages_, is_question);
  if (first == messages_.end()) return false;
  const auto next = std::find_if(first + 1, messages_.end(), is_question);
  if (next == messages_.end()) return false;
  const auto images = images_.begin() + (first - messages_.begin());
  images_.erase(images, images + (next - first));
  messages_.erase(first, next);
  return true;
}

std::vector<ImageRef> Conversation::images() const {
  std::vector<ImageRef> out;
  for (const auto& of_message : images_) {
    for (const AttachedImage& one : of_message) out.push_back(one.image);
  }
  return out;
}

Json Conversation::variables() const {
  Json::Array messages = messages_;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (images_[i].empty()) continue;
    // The images, then the text: what models were trained on.
    Json::Array parts(images_[i].size(), Json(Json::Object{{"type", "image"}}));
    Json text;
    text.set("type", "text").set("text", text_of(messages_[i], "content"));
    parts.push_back(std::move(text));
    messages[i].set("content", std::move(parts));
  }
  Json json;
  return json.set("messages", std::move(messages)).set("add_generation_prompt", true);
}

Result<void> Conversation::save(const std::string& path) const {
  const std::string text = Json(messages_).dump(2) + "\n";
  errno = 0;
  WholeFile file(expanded(path));
  file.put(std::as_bytes(std::span(text)));
  if (file.good() && file.commit()) return {};
  return output_failure("{} cannot be written: {}.", path,
                        errno == 0 ? "the disk is full" : std::strerror(errno));
}

Result<void> Conversation::load(const std::string& path, const Attach& attach) {
  TOK_TRY(Json::Array messages, read_messages(expanded(path)));
  std::vector<std::vector<AttachedImage>> images(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    const Json* paths = messages[i].find("images");
    if (paths == nullptr) continue;
    for (const Json& one : paths->as_array()) {
      TOK_TRY(AttachedImage image, attach(one.as_string()));
      images[i].push_back(std::move(image));
    }
  }
  messages_ = std::move(messages);
  images_ = std::move(images);
  return {};
}

void Conversation::add(const char* role, std::string content, std::vector<AttachedImage> images) {
  Json message;
  message.set("role", role).set("content", std::move(content));
  Json::Array paths;
  for (const AttachedImage& image : images) paths.push_back(image.path);
  if (!paths.empty()) message.set("images", std::move(paths));
  messages_.push_back(std::move(message));
  images_.push_back(std::move(images));
}

void Conversation::drop_last() {
  messages_.pop_back();
  images_.pop_back();
}

bool Conversation::last_is(const char* role) const {
  return !messages_.empty() && text_of(messages_.back(), "role") == role;
}

}  // namespace tokamak::cli
