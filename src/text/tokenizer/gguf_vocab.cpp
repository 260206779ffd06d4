#include "text/tokenizer/gguf_vocab.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/base64.h"
#include "text/tokenizer/gguf_pre_tokenizer.h"
#include "text/tokenizer/gguf_roles.h"
#include "text/tokenizer/score_merges.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

enum TokenType : int32_t { kUnset, kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

constexpr std::string_view kMetaspace = "\u2581";  // SentencePiece's blank

TokenType type_of(const GgufVocab& vocab, size_t id) {
  if (!vocab.token_types.empty()) return TokenType(vocab.token_types[id]);
  for (const auto& role :
       {vocab.bos, vocab.eos, vocab.eot, vocab.eom, vocab.unk, vocab.sep, vocab.pad, vocab.mask}) {
    if (role == id) return kControl;
  }
  return kNormal;
}

/// Whether text may be spelled with the token.
bool is_piece(TokenType type) {
  return type == kUnset || type == kNormal || type == kUserDefined;
}

std::vector<bool> find_pieces(const GgufVocab& vocab) {
  std::vector<bool> pieces(vocab.tokens.size());
  for (size_t id = 0; id < pieces.size(); ++id) pieces[id] = is_piece(type_of(vocab, id));
  return pieces;
}

Result<void> check_arrays(const GgufVocab& vocab) {
  const size_t count = vocab.tokens.size();
  if (count == 0) return invalid_input("\"tokenizer.ggml.tokens\" is missing or empty.");
  const auto check_length = [&](std::string_view name, size_t length) -> Result<void> {
    if (length == 0 || length == count) return {};
    return invalid_input(
        "\"tokenizer.ggml.{}\" has {} entries, but \"tokenizer.ggml.tokens\" has {}.", name, length,
        count);
  };
  TOK_TRY(check_length("token_type", vocab.token_types.size()));
  TOK_TRY(check_length("scores", vocab.scores.size()));
  for (size_t id = 0; id < count; ++id) {
    if (!is_valid_utf8(vocab.tokens[id])) {
      return invalid_input("Token {} of \"tokenizer.ggml.tokens\" is not UTF-8.", id);
    }
    if (!vocab.token_types.empty() &&
        (vocab.token_types[id] < kUnset || vocab.token_types[id] > kByte)) {
      return invalid_input(
          "Token {} has type {} in \"tokenizer.ggml.token_type\"; 1 to 6 are known.", id,
          vocab.token_types[id]);
    }
    if (!vocab.scores.empty() && !std::isfinite(vocab.scores[id])) {
      return invalid_input("The score of token {} in \"tokenizer.ggml.scores\" is not a number.",
                           id);
    }
  }
  return {};
}

struct Role {
  std::string_view name;
  std::optional<uint32_t> GgufVocab::* id;
};
constexpr Role kRoles[] = {
    {"bos_token", &GgufVocab::bos},   {"eos_token", &GgufVocab::eos},
    {"eot_token", &GgufVocab::eot},   {"unk_token", &GgufVocab::unk},
    {"sep_token", &GgufVocab::sep},   {"pad_token", &GgufVocab::pad},
    {"mask_token", &GgufVocab::mask},
};

/// An empty token leaves its id without one.
Result<Vocabulary> read_vocabulary(const std::vector<std::string>& tokens) {
  size_t bytes = 0;
  for (const std::string& token : tokens) bytes += token.size();
  TOK_TRY(Vocabulary vocabulary, Vocabulary::with_room(tokens.size(), bytes));
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) TOK_TRY(vocabulary.add(tokens[id], uint32_t(id)));
  }
  return vocabulary;
}

Result<std::vector<Bpe::Merge>> read_merges(const GgufVocab& vocab, const Vocabulary& vocabulary) {
  if (vocab.merges.empty()) return invalid_input("\"tokenizer.ggml.merges\" is missing or empty.");
  std::vector<MergePair> pairs;
  pairs.reserve(vocab.merges.size());
  for (const std::string_view text : vocab.merges) {
    const size_t space = text.find(' ', 1);
    if (space == text.npos || space + 1 == text.size()) {
      return invalid_input("The merge \"{}\" is not two tokens with a space between them.", text);
    }
    pairs.push_back({text.substr(0, space), text.substr(space + 1)});
  }
  return find_merges(vocabulary, pairs, true);
}

bool has_byte_tokens(const GgufVocab& vocab) {
  return std::find(vocab.token_types.begin(), vocab.token_types.end(), kByte) !=
             vocab.token_types.end() ||
         (vocab.token_types.empty() &&
          std::find(vocab.tokens.begin(), vocab.tokens.end(), "<0x00>") != vocab.tokens.end());
}

/// `kind` is "String" or "Regex".
Json replace_json(std::string kind, std::string_view what, std::string_view with) {
  return Json::Object{
      {"type", "Replace"}, {"pattern", Json::Object{{kind, what}}}, {"content", with}};
}

/// Blanks to SentencePiece's and back, with one more in front of every text if asked for.
Result<void> add_sentence_piece_steps(const GgufVocab& vocab, TokenizerParts& parts) {
  const bool prefix = vocab.add_space_prefix.value_or(false);
  Json::Array before, after;
  if (!vocab.charsmap.empty()) {
    const std::string bytes = base64_of(std::as_bytes(std::span(vocab.charsmap)));
    before.push_back(Json::Object{{"type", "Precompiled"}, {"precompiled_charsmap", bytes}});
  }
  if (vocab.remove_extra_spaces.value_or(false)) {
    before.push_back(replace_json("Regex", R"(\A +| +\z)", ""));
    before.push_back(replace_json("Regex", " {2,}", " "));
  }
  if (prefix) before.push_back(Json::Object{{"type", "Prepend"}, {"prepend", kMetaspace}});
  before.push_back(replace_json("String", " ", kMetaspace));
  after.push_back(replace_json("String", kMetaspace, " "));
  after.push_back(Json::Object{{"type", "ByteFallback"}});
  after.push_back(Json::Object{{"type", "Fuse"}});
  if (prefix) {
    after.push_back(Json::Object{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  TOK_TRY(parts.normalizer, Normalizer::from_json(Json::Object{
                                {"type", "Sequence"}, {"normalizers", std::move(before)}}));
  TOK_TRY(parts.decoder,
          Decoder::from_json(Json::Object{{"type", "Sequence"}, {"decoders", std::move(after)}}));
  return {};
}

Result<void> read_gpt2(GgufVocab& vocab, TokenizerParts& parts) {
  TOK_TRY(GgufPreTokenizer pre, find_gguf_pre_tokenizer(vocab.pre));
  if (!vocab.add_bos) vocab.add_bos = pre.add_bos && vocab.bos;
  parts.normalizer = std::move(pre.normalizer);
  parts.pre_tokenizer = std::move(pre.pre_tokenizer);
  TOK_TRY(parts.decoder, Decoder::from_json(Json::Object{{"type", "ByteLevel"}}));
  TOK_TRY(Vocabulary vocabulary, read_vocabulary(vocab.tokens));
  TOK_TRY(const auto merges, read_merges(vocab, vocabulary));
  Bpe::Options options;
  options.ignore_merges = pre.ignore_merges;
  parts.model = std::make_unique<const Bpe>(std::move(vocabulary), merges, std::move(options));
  return {};
}

/// SentencePiece's BPE, which fuses neighbouring unknown characters.
Bpe::Options sentence_piece_options(const GgufVocab& vocab) {
  Bpe::Options options;
  options.unk = vocab.unk;
  options.fuse_unk = true;
  options.byte_fallback = has_byte_tokens(vocab);
  return options;
}

Result<void> read_llama(GgufVocab& vocab, TokenizerParts& parts) {
  if (!vocab.add_bos) vocab.add_bos = vocab.bos.has_value();
  if (!vocab.add_space_prefix) vocab.add_space_prefix = true;
  if (vocab.scores.empty()) return invalid_input("\"tokenizer.ggml.scores\" is missing or empty.");
  const std::vector<bool> pieces = find_pieces(vocab);
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id] && vocab.tokens[id].size() > kMaxPieceBytes) {
      return unsupported("Token {} has {} bytes; at most {} are supported.", id,
                         vocab.tokens[id].size(), kMaxPieceBytes);
    }
  }
  TOK_TRY(add_sentence_piece_steps(vocab, parts));
  TOK_TRY(Vocabulary vocabulary, read_vocabulary(vocab.tokens));
  const auto merges = merges_by_score(vocabulary, vocab.scores, pieces);
  parts.model =
      std::make_unique<const Bpe>(std::move(vocabulary), merges, sentence_piece_options(vocab));
  return {};
}

/// Published files say that <bos> is not added, which the models' own tokenizers do and without
/// which the models write nonsense.
Result<void> read_gemma4(GgufVocab& vocab, TokenizerParts& parts) {
  vocab.add_bos = vocab.bos.has_value();
  TOK_TRY(add_sentence_piece_steps(vocab, parts));
  TOK_TRY(Vocabulary vocabulary, read_vocabulary(vocab.tokens));
  TOK_TRY(const auto merges, read_merges(vocab, vocabulary));
  parts.model =
      std::make_unique<const Bpe>(std::move(vocabulary), merges, sentence_piece_options(vocab));
  return {};
}

Result<void> read_t5(GgufVocab& vocab, TokenizerParts& parts) {
  // XLM-RoBERTa's texts begin with a token, T5's do not; older files leave that to the reader.
  if (!vocab.add_bos && vocab.architecture == "bert") vocab.add_bos = vocab.bos.has_value();
  if (!vocab.add_eos) vocab.add_eos = vocab.eos.has_value();
  if (vocab.scores.empty()) return invalid_input("\"tokenizer.ggml.scores\" is missing or empty.");
  TOK_TRY(add_sentence_piece_steps(vocab, parts));
  TOK_TRY(Vocabulary vocabulary, read_vocabulary(vocab.tokens));
  TOK_TRY(parts.model,
          make_unigram(std::move(vocabulary), {vocab.scores.begin(), vocab.scores.end()},
                       find_pieces(vocab), vocab.unk, has_byte_tokens(vocab)));
  return {};
}

Result<void> read_bert(GgufVocab& vocab, TokenizerParts& parts) {
  if (!vocab.add_bos) vocab.add_bos = vocab.bos.has_value();
  if (!vocab.unk) return invalid_input("\"tokenizer.ggml.unknown_token_id\" is missing.");
  // The token that closes a text is "sep" here; "eos" has no part in it.
  vocab.eos = vocab.sep;
  vocab.add_eos = vocab.add_sep.value_or(vocab.sep.has_value());
  for (size_t id = 0; id < vocab.tokens.size(); ++id) {
    std::string& token = vocab.tokens[id];
    if (token.starts_with(kMetaspace)) {
      token.erase(0, kMetaspace.size());
    } else if (is_piece(type_of(vocab, id)) && !(token.starts_with('[') && token.ends_with(']'))) {
      token.insert(0, "##");
    }
  }
  const bool lowercase = vocab.lowercase.value_or(true);
  TOK_TRY(parts.normalizer, Normalizer::from_json(Json::Object{
                                {"type", "BertNormalizer"},
                                {"lowercase", lowercase},
                                {"strip_accents", vocab.strip_accents.value_or(lowercase)}}));
  TOK_TRY(parts.pre_tokenizer, PreTokenizer::from_json(Json::Object{{"type", "BertPreTokenizer"}}));
  TOK_TRY(parts.decoder, Decoder::from_json(Json::Object{{"type", "WordPiece"}, {"prefix", "##"}}));
  TOK_TRY(Vocabulary vocabulary, read_vocabulary(vocab.tokens));
  parts.model = make_wordpiece(std::move(vocabulary), *vocab.unk);
  return {};
}

using ReadForm = Result<void> (*)(GgufVocab&, TokenizerParts&);
constexpr std::pair<std::string_view, ReadForm> kForms[] = {
    {"gpt2", read_gpt2}, {"llama", read_llama}, {"gemma4", read_gemma4},
    {"t5", read_t5},     {"bert", read_bert},
};

/// Phi-3 and 3.5 have Llama 2's vocabulary; Phi-4, of the same architecture, has another.
bool is_phi3(const GgufVocab& vocab) {
  if (vocab.model != "llama") return false;
  const std::string name = to_lower(vocab.name);
  return vocab.architecture == "phi3" || name.find("phi-3") != name.npos ||
         name.find("phi3") != name.npos;
}

/// The token that takes the blanks before it; empty when the vocabulary has none such.
std::string_view find_lstrip_token(const GgufVocab& vocab) {
  if (vocab.pre == "modern-bert") return "[MASK]";
  return vocab.pre.starts_with("jina-v2-") ? "<mask>" : "";
}

/// Control and unknown tokens are special; user-defined ones are found in any text. Which of them
/// take blanks the format does not keep: the names of the models say it, as for llama.cpp.
Result<AddedTokens> read_added_tokens(const GgufVocab& vocab) {
  constexpr std::string_view kPhi3KeepsBlanks[] = {"<unk>", "<s>", "<|endoftext|>"};
  const bool phi3 = is_phi3(vocab);
  const std::string_view lstrip_token = find_lstrip_token(vocab);
  std::vector<AddedToken> added;
  for (size_t id = 0; id < vocab.tokens.size(); ++id) {
    const TokenType type = type_of(vocab, id);
    if (type != kControl && type != kUnknown && type != kUserDefined) continue;
    AddedToken token;
    token.id = uint32_t(id);
    token.content = vocab.tokens[id];
    token.special = type != kUserDefined;
    token.lstrip = token.content == lstrip_token;
    token.rstrip =
        phi3 && std::ranges::find(kPhi3KeepsBlanks, token.content) == std::end(kPhi3KeepsBlanks);
    if (token.content.size() > AddedToken::kMaxBytes) {
      return unsupported("Token {} has {} bytes; at most {} are supported in a special token.", id,
                         token.content.size(), AddedToken::kMaxBytes);
    }
    added.push_back(std::move(token));
  }
  return AddedTokens::build(std::move(added), Normalizer());
}

Result<PostProcessor> read_post_processor(const GgufVocab& vocab) {
  std::vector<uint32_t> before, after;
  const auto add = [](std::string_view name, std::optional<bool> wanted, std::optional<uint32_t> id,
                      std::vector<uint32_t>& side) -> Result<void> {
    if (!wanted.value_or(false)) return {};
    if (!id) {
      return invalid_input(
          "\"tokenizer.ggml.add_{0}_token\" is true, but \"tokenizer.ggml.{0}_token_id\" is "
          "missing or beyond the vocabulary.",
          name);
    }
    side.push_back(*id);
    return {};
  };
  TOK_TRY(add("bos", vocab.add_bos, vocab.bos, before));
  TOK_TRY(add("eos", vocab.add_eos, vocab.eos, after));
  return PostProcessor(std::move(before), std::move(after));
}

}  // namespace

Result<TokenizerParts> read_gguf_parts(const GgufVocab& file) {
  const auto form = std::find_if(std::begin(kForms), std::end(kForms),
                                 [&](const auto& f) { return f.first == file.model; });
  if (form == std::end(kForms)) {
    return unsupported(
        "\"tokenizer.ggml.model\" is \"{}\", which is not supported; known are gpt2, llama, "
        "gemma4, "
        "t5 and bert.",
        file.model);
  }
  TOK_TRY(check_arrays(file));
  GgufVocab vocab = file;
  settle_roles(vocab);
  TokenizerParts parts;
  TOK_TRY(form->second(vocab, parts));
  TOK_TRY(parts.added, read_added_tokens(vocab));
  TOK_TRY(parts.post_processor, read_post_processor(vocab));
  for (const Role& role : kRoles) {
    if (const auto& id = vocab.*role.id) parts.roles.emplace_back(role.name, vocab.tokens[*id]);
  }
  return parts;
}

}  // namespace tokamak
