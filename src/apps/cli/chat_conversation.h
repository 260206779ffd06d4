// The messages of a chat, as its template reads them and as files keep them.
#pragma once
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace tokamak::cli {

class Conversation {
 public:
  explicit Conversation(std::string system) { start_over(std::move(system)); }

  /// Only what the model is told first stays.
  void clear();
  void start_over(std::string system);
  /// A question that has had no answer makes way for the next one.
  void ask(std::string question);
  void answer(std::string text);
  /// Drops the last exchange and returns its question; "" when there is none.
  std::string take_back();
  size_t messages() const { return messages_.size(); }

  /// What a chat template reads.
  Json variables() const;

  /// A JSON array of messages, each with "role" and "content".
  Result<void> save(const std::string& path) const;
  /// Takes over such an array, or an object with one as "messages". Errors name the file, and leave
  /// the conversation as it is.
  Result<void> load(const std::string& path);

 private:
  void add(const char* role, std::string content);
  bool last_is(const char* role) const;

  Json::Array messages_;
};

}  // namespace tokamak::cli
