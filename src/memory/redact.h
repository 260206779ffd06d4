// Takes what is secret out of texts before anything is made of them: keys and passwords, addresses
// of e-mail, numbers of cards, and what the user's own expressions find. What was found is counted
// and shown to nobody.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/regex.h"

namespace tokamak::memory {

/// The text in place of a secret.
inline constexpr std::string_view kRedacted = "[REDACTED]";

enum class Secret : uint8_t { kKey, kEmail, kCard, kOwn };
inline constexpr std::array<std::string_view, 4> kSecretNames = {"keys", "email", "cards", "own"};

struct Redacted {
  std::string text;
  std::array<uint32_t, 4> counts = {};  // by Secret
};

class Redactor {
 public:
  /// `own`: regular expressions, as tokenizers have them. `kept`: kinds that stay in texts.
  /// Errors: an expression that is none, or that finds nothing between characters ("x*").
  static Result<Redactor> make(const std::vector<std::string>& own,
                               const std::vector<Secret>& kept = {});

  /// Errors: an expression of the user that takes too long. REQUIRES: `text` is UTF-8.
  Result<Redacted> redact(std::string_view text) const;

 private:
  struct Rule {
    Secret kind;
    Regex regex;
    bool is_value;  // what it finds is a name, ':' or '=', and the secret
    std::string own;
  };
  Redactor() = default;

  std::vector<Rule> rules_;
  bool finds_cards_ = true;
};

}  // namespace tokamak::memory
