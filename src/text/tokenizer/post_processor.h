// The "post_processor" of tokenizer.json: the special tokens around one encoded text.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/json.h"

namespace tokamak {

class PostProcessor {
 public:
  using HasToken = std::function<bool(uint32_t id)>;

  PostProcessor() = default;
  PostProcessor(std::vector<uint32_t> before, std::vector<uint32_t> after)
      : before_(std::move(before)), after_(std::move(after)) {}

  /// Null adds nothing. Fails when it names an id that `has_token` does not know.
  static Result<PostProcessor> from_json(const Json& json, const HasToken& has_token);

  const std::vector<uint32_t>& before() const { return before_; }
  const std::vector<uint32_t>& after() const { return after_; }

 private:
  Result<void> add(const Json& json);
  Result<void> add_template(const Json& json);
  Result<void> add_pair(const Json& json);

  std::vector<uint32_t> before_;
  std::vector<uint32_t> after_;
};

}  // namespace tokamak
