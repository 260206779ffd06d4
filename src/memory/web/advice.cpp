#include "memory/advice.h"

namespace tokamak::memory {

const Advice kAdvice = {
    .other_model = "Open that model, or make all vectors again: `rebuild()`.",
    .continues = "`rebuild()` goes on",
    .by_words = "a search by \"words\" finds everything",
    .bad_vectors = "`rebuild()` makes all of them again.",
    .damaged =
        "What can still be read comes out with `export()`; a new store takes it with "
        "`import()`.",
};

}  // namespace tokamak::memory
