// One sink for each kind of decoder step; each passes its result on to `next`.
#pragma once
#include <optional>

#include "text/tokenizer/decoder.h"

namespace tokamak {

/// The byte of a token like <0x0A>.
std::optional<uint8_t> byte_of_token(std::string_view token);

/// The end of every chain: appends to `out`.
TokenSinkPtr make_text_sink(std::string& out);

TokenSinkPtr make_sink(const Decoder::JoinWithSpaces& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::ByteLevel& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::ByteFallback& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::Fuse& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::Replace& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::Strip& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::Metaspace& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::WordPiece& step, TokenSinkPtr next);
TokenSinkPtr make_sink(const Decoder::WordSuffix& step, TokenSinkPtr next);

}  // namespace tokamak
