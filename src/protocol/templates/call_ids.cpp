#include "protocol/templates/call_ids.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/splitmix.h"
#include "protocol/answers/answer_writer.h"

namespace tokamak::protocol {
namespace {

/// Nine letters and digits: those ids that are not get others, always the same.
void shorten_id(Json* id) {
  constexpr size_t kLetters = 9;
  if (id == nullptr || !id->is_string()) return;
  const std::string& old = id->as_string();
  const bool is_short =
      old.size() == kLetters && std::ranges::all_of(old, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      });
  if (is_short) return;
  uint64_t state = hash_bytes(std::span<const char>(old), kHashStart);
  *id = random_id("", [&] { return next_random(state); }, kLetters);
}

/// The ids functions.f:0, functions.g:1, ... of the calls of a conversation, in which such a model
/// reads the name of the function.
class NumberedIds {
 public:
  void number(Json& call) {
    const Json* function = call.find("function");
    const Json* name = function == nullptr ? nullptr : function->find("name");
    if (name == nullptr || !name->is_string()) return;
    const std::string id = fmt::format("functions.{}:{}", name->as_string(), count_++);
    if (Json* old = call.find("id"); old != nullptr && old->is_string()) {
      last_[old->as_string()] = id;
      *old = id;
    } else {
      call.set("id", id);
    }
  }

  void follow(Json* id) const {
    if (id == nullptr || !id->is_string()) return;
    const auto found = last_.find(id->as_string());
    if (found != last_.end()) *id = found->second;
  }

 private:
  uint32_t count_ = 0;
  std::map<std::string, std::string> last_;  // by the client's id
};

}  // namespace

void fit_call_ids(const ToolFamily& family, Json& variables) {
  if (!family.has_short_ids && !family.has_numbered_ids) return;
  NumberedIds numbered;
  for (Json& message : variables.find("messages")->as_array()) {
    Json* result = message.find("tool_call_id");
    family.has_short_ids ? shorten_id(result) : numbered.follow(result);
    Json* calls = message.find("tool_calls");
    if (calls == nullptr) continue;
    for (Json& call : calls->as_array()) {
      family.has_short_ids ? shorten_id(call.find("id")) : numbered.number(call);
    }
  }
}

}  // namespace tokamak::protocol
