// Which models `tokamak serve` offers, by which names, and how they are opened.
#pragma once
#include "apps/cli/command.h"
#include "serve/model_pool.h"

namespace tokamak::cli {

struct ServedModel {
  std::string typed;               // as MODEL was; "": the built-in one
  std::vector<std::string> names;  // the first is its id
  OpenOptions options;
};

/// The options of `tokamak serve` about its models and the requests that may wait for them.
struct PoolFlags {
  uint32_t sequences = 16, max_queue = 512, max_loaded = 0;
  double megapixels = 1;
  std::vector<std::string> aliases, pins, voices;
  std::string keep_alive, codec;
  bool preload = false;
};
void add_pool_options(App& command, PoolFlags& flags);

/// The models of MODEL and of --alias: NAME, of the first of them, or NAME=MODEL, of one of them or
/// of one more. The first name of a model is its id; without one it is called as its folder or
/// file. Models that are not there are fetched as for all commands. Errors: a name that two have,
/// --pin of none, more to load at the start than may be loaded.
Result<std::vector<ServedModel>> served_models(const ModelFlags& flags, const PoolFlags& pool);

/// The voices of --voice NAME=FILE by their names, and the codec. Errors: no such file, a file that
/// holds none, a name given twice.
Result<protocol::SpeechOptions> speech_options(const PoolFlags& flags);

struct OpenPool {
  std::unique_ptr<serve::ModelPool> pool;
  std::string example;  // a request that the first model answers: what follows curl and the address
};
/// Opens the first model, or all, and looks at the files of the others: what is wrong with those is
/// a note. `trace`: null where there is none.
Result<OpenPool> open_pool(const std::vector<ServedModel>& models, const PoolFlags& flags,
                           serve::Server& server, serve::Trace* trace,
                           serve::ModelPool::Deliver deliver);

}  // namespace tokamak::cli
