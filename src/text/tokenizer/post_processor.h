// The "post_processor" of tokenizer.json: the special tokens around one encoded text, or around
// two.
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

  /// A part of a sequence of two texts: one of them, or special tokens.
  struct PairPart {
    uint32_t text = 0;          // 1: the first, 2: the second
    std::vector<uint32_t> ids;  // where it is none of them
    uint32_t type = 0;
  };

  const std::vector<uint32_t>& before() const { return before_; }
  const std::vector<uint32_t>& after() const { return after_; }
  /// In their order; nothing where the file does not say it.
  const std::optional<std::vector<PairPart>>& pair() const { return pair_; }

 private:
  Result<void> add(const Json& json);
  Result<void> add_template(const Json& json);
  static std::optional<std::vector<PairPart>> template_pair(const Json& json);
  Result<void> add_sep_cls(const Json& json, bool is_roberta);

  std::vector<uint32_t> before_;
  std::vector<uint32_t> after_;
  std::optional<std::vector<PairPart>> pair_;
};

}  // namespace tokamak
