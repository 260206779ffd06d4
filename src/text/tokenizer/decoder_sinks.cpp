#include "text/tokenizer/decoder_sinks.h"

#include <optional>

#include "text/tokenizer/byte_level.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

class TextSink : public TokenSink {
 public:
  explicit TextSink(std::string& out) : out_(out) {}
  void piece(std::string_view text, bool) override { out_ += text; }
  void finish() override {}

 private:
  std::string& out_;
};

/// Base of the steps that need a token in one piece.
class WholeTokenSink : public TokenSink {
 public:
  explicit WholeTokenSink(TokenSinkPtr next) : next_(std::move(next)) {}

  void piece(std::string_view text, bool ends_token) final {
    if (ends_token && held_.empty()) return token(text);
    held_ += text;
    if (!ends_token) return;
    token(held_);
    held_.clear();
  }
  void finish() override { next_->finish(); }

 protected:
  virtual void token(std::string_view text) = 0;

  TokenSinkPtr next_;

 private:
  std::string held_;
};

class JoinWithSpacesSink : public WholeTokenSink {
 public:
  using WholeTokenSink::WholeTokenSink;

 private:
  void token(std::string_view text) override {
    if (!is_first_) next_->piece(" ", false);
    is_first_ = false;
    next_->piece(text, true);
  }
  bool is_first_ = true;
};

/// All tokens become one.
class ByteLevelSink : public WholeTokenSink {
 public:
  using WholeTokenSink::WholeTokenSink;

  void finish() override {
    std::string text;
    repair_.finish(text);
    next_->piece(text, true);
    next_->finish();
  }

 private:
  void token(std::string_view text) override {
    std::string decoded;
    repair_.push(bytes_of_chars(text), decoded);
    if (!decoded.empty()) next_->piece(decoded, false);
  }

  Utf8Repair repair_;
};

std::optional<uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return uint8_t(c - '0');
  if (c >= 'A' && c <= 'F') return uint8_t(c - 'A' + 10);
  if (c >= 'a' && c <= 'f') return uint8_t(c - 'a' + 10);
  return std::nullopt;
}

/// A run of byte tokens is text when all of it is UTF-8, else one U+FFFD for each byte; so nothing
/// of a run is certain before it ends.
class ByteFallbackSink : public WholeTokenSink {
 public:
  using WholeTokenSink::WholeTokenSink;

  void finish() override {
    flush();
    next_->finish();
  }

 private:
  void token(std::string_view text) override {
    if (const auto byte = byte_of_token(text)) {
      run_ += char(*byte);
    } else {
      flush();
      next_->piece(text, true);
    }
  }

  void flush() {
    if (run_.empty()) return;
    if (is_valid_utf8(run_)) {
      next_->piece(run_, true);
    } else {
      for (size_t i = 0; i < run_.size(); ++i) next_->piece("\uFFFD", true);
    }
    run_.clear();
  }

  std::string run_;
};

class FuseSink : public TokenSink {
 public:
  explicit FuseSink(TokenSinkPtr next) : next_(std::move(next)) {}
  void piece(std::string_view text, bool) override { next_->piece(text, false); }
  void finish() override {
    next_->piece("", true);
    next_->finish();
  }

 private:
  TokenSinkPtr next_;
};

class ReplaceSink : public WholeTokenSink {
 public:
  ReplaceSink(const Decoder::Replace& step, TokenSinkPtr next)
      : WholeTokenSink(std::move(next)), step_(step) {}

 private:
  void token(std::string_view text) override {
    const auto replaced = step_.pattern.replace(text, step_.content);
    next_->piece(replaced ? std::string_view(*replaced) : text, true);  // too many steps: as it is
  }
  const Decoder::Replace& step_;
};

/// Drops up to `start` characters `content` from the start of a token and up to `stop` from its
/// end.
class StripSink : public TokenSink {
 public:
  StripSink(const Decoder::Strip& step, TokenSinkPtr next) : step_(step), next_(std::move(next)) {
    append_utf8(content_, step.content);
  }

  void piece(std::string_view text, bool ends_token) override {
    while (stripping_ && stripped_ < step_.start && text.starts_with(content_)) {
      text.remove_prefix(content_.size());
      ++stripped_;
    }
    if (!text.empty()) stripping_ = false;
    std::string_view body = text;
    while (body.ends_with(content_)) body.remove_suffix(content_.size());
    if (!body.empty()) {
      pass_on_held(0);
      next_->piece(body, false);
    }
    held_ += (text.size() - body.size()) / content_.size();
    pass_on_held(step_.stop);
    if (!ends_token) return;
    held_ = 0;
    next_->piece("", true);
    stripping_ = true;
    stripped_ = 0;
  }
  void finish() override { next_->finish(); }

 private:
  void pass_on_held(size_t keep) {
    for (; held_ > keep; --held_) next_->piece(content_, false);
  }

  const Decoder::Strip& step_;
  TokenSinkPtr next_;
  std::string content_;
  bool stripping_ = true;
  uint32_t stripped_ = 0;
  size_t held_ = 0;  // characters `content` that may be the end of the token
};

class MetaspaceSink : public WholeTokenSink {
 public:
  MetaspaceSink(const Decoder::Metaspace& step, TokenSinkPtr next)
      : WholeTokenSink(std::move(next)), step_(step), pattern_(step.replacement) {}

 private:
  void token(std::string_view text) override {
    const auto replaced = pattern_.replace(text, is_first_ && step_.drops_first ? "" : " ");
    is_first_ = false;
    next_->piece(*replaced, true);  // a literal pattern cannot fail
  }
  const Decoder::Metaspace& step_;
  TextPattern pattern_;
  bool is_first_ = true;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (text.find(from) == text.npos) return;
  text = *TextPattern(std::string(from)).replace(text, to);  // a literal pattern cannot fail
}

class WordPieceSink : public WholeTokenSink {
 public:
  WordPieceSink(const Decoder::WordPiece& step, TokenSinkPtr next)
      : WholeTokenSink(std::move(next)), step_(step) {}

 private:
  void token(std::string_view text) override {
    std::string word;
    if (!is_first_ && text.starts_with(step_.prefix)) {
      text.remove_prefix(step_.prefix.size());
    } else if (!is_first_) {
      word += ' ';
    }
    word += text;
    is_first_ = false;
    if (step_.cleanup) clean_up(word);
    next_->piece(word, true);
  }

  /// English spacing, as the reference has it, token by token.
  static void clean_up(std::string& word) {
    constexpr std::pair<std::string_view, std::string_view> kRules[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : kRules) replace_all(word, from, to);
  }

  const Decoder::WordPiece& step_;
  bool is_first_ = true;
};

/// The suffix ends a word: it becomes a space, or nothing in the last token, which is held back.
class WordSuffixSink : public WholeTokenSink {
 public:
  WordSuffixSink(const Decoder::WordSuffix& step, TokenSinkPtr next)
      : WholeTokenSink(std::move(next)), step_(step) {}

  void finish() override {
    pass_on("");
    next_->finish();
  }

 private:
  void token(std::string_view text) override {
    pass_on(" ");
    last_ = std::string(text);
  }
  void pass_on(std::string_view replacement) {
    if (!last_) return;
    if (!step_.suffix.empty()) replace_all(*last_, step_.suffix, replacement);
    next_->piece(*last_, true);
    last_.reset();
  }

  const Decoder::WordSuffix& step_;
  std::optional<std::string> last_;
};

}  // namespace

std::optional<uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto high = hex_digit(token[3]);
  const auto low = hex_digit(token[4]);
  if (!high || !low) return std::nullopt;
  return uint8_t(*high << 4 | *low);
}

TokenSinkPtr make_text_sink(std::string& out) {
  return std::make_unique<TextSink>(out);
}

TokenSinkPtr make_sink(const Decoder::JoinWithSpaces&, TokenSinkPtr next) {
  return std::make_unique<JoinWithSpacesSink>(std::move(next));
}
TokenSinkPtr make_sink(const Decoder::ByteLevel&, TokenSinkPtr next) {
  return std::make_unique<ByteLevelSink>(std::move(next));
}
TokenSinkPtr make_sink(const Decoder::ByteFallback&, TokenSinkPtr next) {
  return std::make_unique<ByteFallbackSink>(std::move(next));
}
TokenSinkPtr make_sink(const Decoder::Fuse&, TokenSinkPtr next) {
  return std::make_unique<FuseSink>(std::move(next));
}
TokenSinkPtr make_sink(const Decoder::Replace& step, TokenSinkPtr next) {
  return std::make_unique<ReplaceSink>(step, std::move(next));
}
TokenSinkPtr make_sink(const Decoder::Strip& step, TokenSinkPtr next) {
  return std::make_unique<StripSink>(step, std::move(next));
}
TokenSinkPtr make_sink(const Decoder::Metaspace& step, TokenSinkPtr next) {
  return std::make_unique<MetaspaceSink>(step, std::move(next));
}
TokenSinkPtr make_sink(const Decoder::WordPiece& step, TokenSinkPtr next) {
  return std::make_unique<WordPieceSink>(step, std::move(next));
}
TokenSinkPtr make_sink(const Decoder::WordSuffix& step, TokenSinkPtr next) {
  return std::make_unique<WordSuffixSink>(step, std::move(next));
}

}  // namespace tokamak
