// The settings of the hub in the environment, with the names and the order of huggingface_hub
// (src/huggingface_hub/constants.py), so that one setting serves both.
#pragma once
#include <string>

#include "base/result.h"

namespace tokamak::hub {

/// A variable that is set to nothing is as one that is not set. In paths "~", $NAME and ${NAME} are
/// replaced. Booleans are true as 1, ON, YES and TRUE, in any case.
struct Settings {
  std::string cache;  // HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME/hub, ~/.cache/huggingface/hub
  std::string endpoint;  // HF_ENDPOINT, https://huggingface.co; without "/" at its end
  /// HF_TOKEN, HUGGING_FACE_HUB_TOKEN, the file HF_TOKEN_PATH or HF_HOME/token; "" for none, and
  /// where HF_HUB_DISABLE_IMPLICIT_TOKEN is true.
  std::string token;
  bool offline = false;  // HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE
};

/// The folder of the models; "" when no home folder is known.
std::string cache_folder();
/// The same, or an error that says what would make it known.
Result<std::string> known_cache_folder();

/// Errors: an endpoint that is no http address, a token that cannot be sent, no home folder.
Result<Settings> read_settings();

}  // namespace tokamak::hub
