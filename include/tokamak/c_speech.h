/* The C interface to sound: recordings to transcripts, texts to speech; c.h describes
 * handles, options and errors. The model is one of speech to text (Whisper, Moonshine) or of text
 * to speech (Kani-TTS-2). */
#pragma once
#include "tokamak/c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tokamak_transcribe_options tokamak_transcribe_options;
typedef struct tokamak_transcript tokamak_transcript;
typedef struct tokamak_speak_options tokamak_speak_options;
typedef struct tokamak_speech tokamak_speech;

TOKAMAK_API tokamak_transcribe_options* tokamak_transcribe_options_new(void);
TOKAMAK_API void tokamak_transcribe_options_free(tokamak_transcribe_options* options);
/* Names: language, translate, prompt, temperature, fallback, timestamps, seed; tokamak/transcript.h
 * describes them. */
TOKAMAK_API bool tokamak_transcribe_options_set(tokamak_transcribe_options* options,
                                                const char* name, const char* value,
                                                tokamak_error** error);
/* Called before each token, by the model's thread. */
TOKAMAK_API void tokamak_transcribe_options_on_step(tokamak_transcribe_options* options,
                                                    tokamak_cancelled cancelled, void* user);
/* Receives each segment as soon as it is there, by the model's thread; `text` is valid during the
 * call. */
typedef void (*tokamak_segment)(void* user, double start, double end, const char* text);
TOKAMAK_API void tokamak_transcribe_options_on_segment(tokamak_transcribe_options* options,
                                                       tokamak_segment segment, void* user);

/* Writes down what is said in a file of sound: WAV, FLAC, Ogg or MP3; blocks. `options` may be
 * NULL. */
TOKAMAK_API tokamak_transcript* tokamak_model_transcribe(tokamak_model* model, const void* file,
                                                         size_t bytes,
                                                         const tokamak_transcribe_options* options,
                                                         tokamak_error** error);
/* The same of samples of one channel at 16 kHz. */
TOKAMAK_API tokamak_transcript* tokamak_model_transcribe_samples(
    tokamak_model* model, const float* samples, size_t count,
    const tokamak_transcribe_options* options, tokamak_error** error);
/* The transcript as text, json, srt or vtt. */
TOKAMAK_API const char* tokamak_transcript_format(tokamak_transcript* transcript,
                                                  const char* format, tokamak_error** error);
TOKAMAK_API void tokamak_transcript_free(tokamak_transcript* transcript);

TOKAMAK_API tokamak_speak_options* tokamak_speak_options_new(void);
TOKAMAK_API void tokamak_speak_options_free(tokamak_speak_options* options);
/* Names: codec, language, max_tokens, temperature, top_k, top_p, repetition_penalty, seed;
 * tokamak/speech.h describes them. */
TOKAMAK_API bool tokamak_speak_options_set(tokamak_speak_options* options, const char* name,
                                           const char* value, tokamak_error** error);
/* The numbers that describe a voice, which are copied. */
TOKAMAK_API bool tokamak_speak_options_set_speaker(tokamak_speak_options* options,
                                                   const float* numbers, size_t count,
                                                   tokamak_error** error);
/* Called between frames, by the model's thread. */
TOKAMAK_API void tokamak_speak_options_on_step(tokamak_speak_options* options,
                                               tokamak_cancelled cancelled, void* user);
/* Receives samples as they are made, by the model's thread; they are valid during the call. */
typedef void (*tokamak_samples)(void* user, const float* samples, size_t count, uint32_t rate);
TOKAMAK_API void tokamak_speak_options_on_samples(tokamak_speak_options* options,
                                                  tokamak_samples samples, void* user);

/* Speaks a text; blocks. `options` may be NULL. */
TOKAMAK_API tokamak_speech* tokamak_model_speak(tokamak_model* model, const char* text,
                                                const tokamak_speak_options* options,
                                                tokamak_error** error);
/* Samples of one channel, mostly from -1 to 1, and how many there are of them and a second. */
TOKAMAK_API const float* tokamak_speech_samples(const tokamak_speech* speech, size_t* count,
                                                uint32_t* rate);
/* The bytes of a file: wav, flac, opus, mp3 or pcm. */
TOKAMAK_API const void* tokamak_speech_encode(tokamak_speech* speech, const char* format,
                                              size_t* bytes, tokamak_error** error);
TOKAMAK_API void tokamak_speech_free(tokamak_speech* speech);

#ifdef __cplusplus
}
#endif
