// The messages of a chat, as its template reads them and as files keep them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "generate/steps/image_rows.h"

namespace tokamak::cli {

/// An image of a message: the file that it came from, and what the model's tower made of it.
struct AttachedImage {
  std::string path;
  ImageRef image;
};

struct Question {
  std::string text;
  std::vector<AttachedImage> images = {};
};

/// A shell would know what "~/" means; in a chat nobody else does.
std::string expanded(const std::string& path);

class Conversation {
 public:
  explicit Conversation(std::string system) { start_over(std::move(system)); }

  /// Only the message of the system stays.
  void clear();
  void start_over(std::string system);
  /// A question that has had no answer makes way for the next one.
  void ask(Question question);
  /// `reasoning`: what came before it, for templates that want it back; "" for none.
  void answer(std::string text, std::string reasoning = "");
  /// Drops the last exchange and returns its question; without a text when there is none.
  Question take_back();
  /// Drops the oldest question with what was said to it; false where there is none but the last.
  bool forget_oldest();
  size_t messages() const { return messages_.size(); }
  /// Those of all messages, in order.
  std::vector<ImageRef> images() const;

  /// The variables that a chat template reads.
  Json variables() const;

  /// A JSON array of messages, each with "role" and "content", and with "images", a list of paths,
  /// where it has some.
  Result<void> save(const std::string& path) const;
  /// Takes over such an array, or an object with one as "messages". Errors name the file, and leave
  /// the conversation as it is. `attach` reads images.
  using Attach = std::function<Result<AttachedImage>(const std::string& path)>;
  Result<void> load(const std::string& path, const Attach& attach);

 private:
  void add(const char* role, std::string content, std::vector<AttachedImage> images = {});
  void drop_last();
  bool last_is(const char* role) const;

  Json::Array messages_;
  std::vector<std::vector<AttachedImage>> images_;  // of each message
};

}  // namespace tokamak::cli
