#include "memory/advice.h"

namespace tokamak::memory {

const Advice kAdvice = {
    .other_model =
        "Name that model (-m), or make all vectors again: `tokamak memory rebuild -m MODEL`.",
    .continues = "`tokamak memory rebuild` goes on",
    .by_words = "`search --by words` finds everything",
    .bad_vectors = "`tokamak memory rebuild` makes all of them again.",
    .damaged =
        "What can still be read comes out with `tokamak memory export`; a new store takes "
        "it with `tokamak memory import`.",
};

}  // namespace tokamak::memory
