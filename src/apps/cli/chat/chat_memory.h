// chat --memory: what a store knows about a message stands before it.
#pragma once
#include <memory>
#include <string>

#include "apps/cli/memory/memory_models.h"
#include "memory/recall.h"

namespace tokamak::cli {

class ChatMemory {
 public:
  /// `path`: "default" is the usual place. The store's model is opened on `flags`' device. At most
  /// `budget` tokens of the chat's tokenizer stand before a message.
  static Result<std::unique_ptr<ChatMemory>> open(const std::string& path, const ModelFlags& flags,
                                                  const Tokenizer& tokenizer, size_t budget);

  /// Puts what the store knows before the last message of a template's variables: quoted, in the
  /// same turn. REQUIRES: there is a message.
  Result<void> put_before_last(Json& variables);

  /// "[memory: notes.md, letter.txt]\n"; "" where nothing was taken for the last message.
  std::string sources() const;
  /// The passages that were taken for the last message, for a person.
  std::string shown() const;

 private:
  ChatMemory(memory::Store store, OpenEmbedder open, const Tokenizer& tokenizer, size_t budget)
      : store_(std::move(store)),
        open_(std::move(open)),
        tokenizer_(tokenizer),
        budget_(budget),
        searcher_(store_, &open_.embedder) {}

  memory::Store store_;
  OpenEmbedder open_;
  const Tokenizer& tokenizer_;
  size_t budget_;
  memory::Searcher searcher_;
  memory::Recalled last_;
};

}  // namespace tokamak::cli
