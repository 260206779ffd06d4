#include "sound.h"

#include <mutex>
#include <utility>

#include "model.h"
#include "tokamak/c_speech.h"

namespace tokamak::node {
namespace {

using TranscribeOptions = Owned<tokamak_transcribe_options, tokamak_transcribe_options_free>;
using SpeakOptions = Owned<tokamak_speak_options, tokamak_speak_options_free>;

/// The target of what a call gives on its way.
struct Receiver {
  std::shared_ptr<Addon> addon;
  Kept receive;
};

void receive_segment(void* user, double start, double end, const char* text) {
  const auto& receiver = *static_cast<const Receiver*>(user);
  receiver.addon->post(
      [receive = receiver.receive, start, end, own = std::string(text)](napi_env env) {
        const napi_value arguments[] = {number_value(env, start), number_value(env, end),
                                        text_value(env, own)};
        receive.call(env, arguments);
      });
}

void receive_samples(void* user, const float* samples, size_t count, uint32_t rate) {
  const auto& receiver = *static_cast<const Receiver*>(user);
  receiver.addon->post([receive = receiver.receive, rate,
                        own = std::vector<float>(samples, samples + count)](napi_env env) {
    const napi_value arguments[] = {floats_value(env, own), number_value(env, rate)};
    receive.call(env, arguments);
  });
}

/// A sound that was made; its handle is for one thread at a time.
struct Speech final : Handle {
  explicit Speech(tokamak_speech* made) : speech(made) {}
  ~Speech() override { tokamak_speech_free(speech); }

  tokamak_speech* speech;
  std::mutex mutex;
};

/// A recording: samples, or the bytes of a file.
struct Recording {
  std::vector<float> samples;
  std::vector<std::byte> file;
  bool is_file = false;
};

Recording recording_of(Arguments& in, size_t index) {
  Recording found{.is_file = !in.is_floats(index)};
  if (found.is_file) {
    const auto bytes = in.bytes(index, "sound");
    found.file.assign(bytes.begin(), bytes.end());
  } else {
    const auto samples = in.floats(index, "sound");
    found.samples.assign(samples.begin(), samples.end());
  }
  return found;
}

Result<std::string> format_of(tokamak_transcript* transcript, const std::string& format) {
  ErrorSlot error;
  const char* text = tokamak_transcript_format(transcript, format.c_str(), error);
  if (text == nullptr) return error.failure();
  return text;
}

}  // namespace

/// transcribe(model, sound, options, format, onSegment, cancellation): the transcript as JSON, and
/// in `format` unless it is "".
napi_value transcribe(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const auto sound = std::make_shared<const Recording>(recording_of(in, 1));
  const auto pairs = in.options(2);
  const std::string format = in.text(3, "format");
  const auto receiver = std::make_shared<Receiver>(Addon::of(env), in.function(4));
  const auto cancellation = in.handle<Cancellation>(5, "cancellation");
  if (in.has_failed()) return in.raise();
  const auto make = [model = in.model(), sound, pairs, format, receiver,
                     cancellation]() -> Result<Finish> {
    const TranscribeOptions options(tokamak_transcribe_options_new());
    if (auto set = set_all(tokamak_transcribe_options_set, options.get(), pairs); !set) {
      return std::unexpected(set.error());
    }
    tokamak_transcribe_options_on_step(options.get(), Cancellation::ask, cancellation.get());
    if (receiver->receive) {
      tokamak_transcribe_options_on_segment(options.get(), receive_segment, receiver.get());
    }
    ErrorSlot error;
    const Owned<tokamak_transcript, tokamak_transcript_free> made(
        sound->is_file
            ? tokamak_model_transcribe(model.get(), sound->file.data(), sound->file.size(),
                                       options.get(), error)
            : tokamak_model_transcribe_samples(model.get(), sound->samples.data(),
                                               sound->samples.size(), options.get(), error));
    if (made == nullptr) return error.failure();
    const auto json = format_of(made.get(), "json");
    const auto file = format.empty() ? Result<std::string>("") : format_of(made.get(), format);
    if (!json || !file) return std::unexpected((json ? file : json).error());
    return [json = *json, file = *file](napi_env later) {
      const napi_value members[] = {text_value(later, json), text_value(later, file)};
      return array_value(later, members);
    };
  };
  return promise_of(env, "tokamak.transcribe", make);
}

/// speak(model, text, options, speaker, onSamples, cancellation): the speech, its samples and their
/// rate.
napi_value speak(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const std::string text = in.text(1, "text");
  const auto pairs = in.options(2);
  const auto given = in.floats(3, "speaker");
  const std::vector<float> speaker(given.begin(), given.end());
  const auto receiver = std::make_shared<Receiver>(Addon::of(env), in.function(4));
  const auto cancellation = in.handle<Cancellation>(5, "cancellation");
  if (in.has_failed()) return in.raise();
  const auto make = [model = in.model(), text, pairs, speaker, receiver,
                     cancellation]() -> Result<Finish> {
    const SpeakOptions options(tokamak_speak_options_new());
    if (auto set = set_all(tokamak_speak_options_set, options.get(), pairs); !set) {
      return std::unexpected(set.error());
    }
    ErrorSlot error;
    if (!speaker.empty() &&
        !tokamak_speak_options_set_speaker(options.get(), speaker.data(), speaker.size(), error)) {
      return error.failure();
    }
    tokamak_speak_options_on_step(options.get(), Cancellation::ask, cancellation.get());
    if (receiver->receive) {
      tokamak_speak_options_on_samples(options.get(), receive_samples, receiver.get());
    }
    tokamak_speech* made = tokamak_model_speak(model.get(), text.c_str(), options.get(), error);
    if (made == nullptr) return error.failure();
    return [speech = std::make_shared<Speech>(made)](napi_env later) {
      size_t count = 0;
      uint32_t rate = 0;
      const float* samples = tokamak_speech_samples(speech->speech, &count, &rate);
      const napi_value members[] = {handle_value(later, speech),
                                    floats_value(later, {samples, count}),
                                    number_value(later, rate)};
      return array_value(later, members);
    };
  };
  return promise_of(env, "tokamak.speak", make);
}

/// encode(speech, format): the bytes of a file.
napi_value encode(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  const auto speech = in.handle<Speech>(0, "speech");
  const std::string format = in.text(1, "format");
  if (in.has_failed()) return in.raise();
  return promise_of(env, "tokamak.encode", [speech, format]() -> Result<Finish> {
    const std::scoped_lock lock(speech->mutex);
    ErrorSlot error;
    size_t count = 0;
    const void* bytes = tokamak_speech_encode(speech->speech, format.c_str(), &count, error);
    if (bytes == nullptr) return error.failure();
    const auto* first = static_cast<const std::byte*>(bytes);
    return [file = std::vector<std::byte>(first, first + count)](napi_env later) {
      return bytes_value(later, file);
    };
  });
}

}  // namespace tokamak::node
