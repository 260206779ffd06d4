/* The C interface: a model on a device, asked for text, for C11 and whatever can call C; vectors,
 * scores and logits are in c_vectors.h, sound is in c_speech.h, the protocols of a server in
 * c_openai.h, a hub of models in c_hub.h. It is stable: functions and values stay, others may be
 * added.
 *
 *   tokamak_error* error = NULL;
 *   tokamak_model* model = tokamak_model_open(NULL, &error);
 *   if (model == NULL) puts(tokamak_error_message(error));
 *
 * Handles are opaque and are freed by the function of their name; freeing NULL does nothing. Texts
 * are UTF-8 and end with a zero. What a function returns as `const` belongs to its handle and stays
 * valid until the next call with that handle; everything else is the caller's to free.
 *
 * Every function that can fail has an `error` as its last parameter and returns NULL or false where
 * it fails; `*error` is the caller's to free then, and is not touched otherwise. `error` may be
 * NULL. Memory that is used up is such an error (TOKAMAK_OUT_OF_MEMORY), or NULL of a function
 * without `error`: no C++ exception leaves the library.
 *
 * Options are set by name and text ("temperature", "0.7"): new ones need no new function, and one
 * that is not known is an error that lists those that are.
 *
 * Threads: functions of a model may be called by any number of threads at once, but for
 * tokamak_model_free(). Every other handle is for one thread at a time; tokamak_stream_cancel() may
 * be called by any. Callbacks must not block, and must not close the model. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the functions are exported and found; defined as nothing where the library is linked
 * statically on Windows, TOKAMAK_BUILDS while the library itself is built. */
#ifndef TOKAMAK_API
#if defined(_WIN32) && defined(TOKAMAK_BUILDS)
#define TOKAMAK_API __declspec(dllexport)
#elif defined(_WIN32)
#define TOKAMAK_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TOKAMAK_API __attribute__((visibility("default")))
#else
#define TOKAMAK_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tokamak_error tokamak_error;
typedef struct tokamak_options tokamak_options;
typedef struct tokamak_model tokamak_model;
typedef struct tokamak_request tokamak_request;
typedef struct tokamak_stream tokamak_stream;

/* The version of the library, "0.2.0". */
TOKAMAK_API const char* tokamak_version(void);

/* Errors -------------------------------------------------------------------------------------- */

typedef enum {
  TOKAMAK_USAGE = 0,         /* an argument or an option is wrong */
  TOKAMAK_INVALID_INPUT = 1, /* a file, a prompt or a message is wrong */
  TOKAMAK_UNSUPPORTED = 2,   /* well-formed, but not something this engine runs */
  TOKAMAK_DEVICE = 3,        /* no device, a refused driver */
  TOKAMAK_DEVICE_LOST = 4,   /* a device that worked is gone, with what was on it */
  TOKAMAK_OUT_OF_MEMORY = 5, /* host or device memory */
  TOKAMAK_CANCELLED = 6      /* the caller asked to stop */
} tokamak_error_code;

TOKAMAK_API tokamak_error_code tokamak_error_get_code(const tokamak_error* error);
/* Full sentences for a person. */
TOKAMAK_API const char* tokamak_error_message(const tokamak_error* error);
TOKAMAK_API void tokamak_error_free(tokamak_error* error);

/* Frees a text that a function returned without `const`. */
TOKAMAK_API void tokamak_text_free(char* text);
/* Frees token ids that a function returned without `const`. */
TOKAMAK_API void tokamak_ids_free(uint32_t* ids);

/* Opening ------------------------------------------------------------------------------------- */

/* The devices that there are, as a JSON list of objects: backend, number (the option "device"),
 * name, driver, is_software. The caller frees with tokamak_text_free(). */
TOKAMAK_API char* tokamak_list_devices(tokamak_error** error);

/* The options to open a model with; as made, the built-in model on the best device. */
TOKAMAK_API tokamak_options* tokamak_options_new(void);
TOKAMAK_API void tokamak_options_free(tokamak_options* options);
/* Names: model, backend, device, gpus (each call adds some, as 0,1), split (auto, ranks, layers),
 * threads, context, sequences, cache_tokens, memory, kv, precision, quantize, image_pixels,
 * projector, batch_invariant, speculate (off, auto, lookup[:N], draft[:N]), draft, pooling,
 * has_thread, adapter ([NAME=]FOLDER[=SCALE]; each call adds one); see tokamak/model_options.h. */
TOKAMAK_API bool tokamak_options_set(tokamak_options* options, const char* name, const char* value,
                                     tokamak_error** error);

typedef enum {
  TOKAMAK_LOAD_FILES = 0,   /* they are read */
  TOKAMAK_LOAD_WEIGHTS = 1, /* they are loaded: `done` of `total` bytes */
  TOKAMAK_LOAD_KERNELS = 2  /* they are compiled */
} tokamak_load_phase;
/* False cancels: opening fails with TOKAMAK_CANCELLED. */
typedef bool (*tokamak_progress)(void* user, tokamak_load_phase phase, uint64_t done,
                                 uint64_t total);
TOKAMAK_API void tokamak_options_on_progress(tokamak_options* options, tokamak_progress progress,
                                             void* user);
/* Receives what the user should know, a sentence at a time, from the thread that opens and from the
 * model's own, as long as the model lives. `text` is valid during the call. */
typedef void (*tokamak_notice)(void* user, const char* text);
TOKAMAK_API void tokamak_options_on_notice(tokamak_options* options, tokamak_notice notice,
                                           void* user);

/* `options` may be NULL, is copied and stays the caller's. Blocks until the model is loaded. */
TOKAMAK_API tokamak_model* tokamak_model_open(const tokamak_options* options,
                                              tokamak_error** error);
/* Ends everything that runs as cancelled; later calls fail. Any thread; may be called twice. */
TOKAMAK_API void tokamak_model_close(tokamak_model* model);
/* Closes the model first. Streams of it may be freed later. */
TOKAMAK_API void tokamak_model_free(tokamak_model* model);
/* With has_thread "false": takes what has arrived and submits what can run, without waiting for the
 * device. False when nothing is left to do. */
TOKAMAK_API bool tokamak_model_pump(tokamak_model* model);
/* True cancels a call that blocks: it fails with TOKAMAK_CANCELLED. */
typedef bool (*tokamak_cancelled)(void* user);
/* A JSON object: name, architecture, device, context, sequences, vocabulary, dimensions (of
 * embeddings; 0: it generates text), embed_prompts, device_bytes. */
TOKAMAK_API const char* tokamak_model_details(const tokamak_model* model);

/* Tokens and chats ---------------------------------------------------------------------------- */

/* The caller frees with tokamak_ids_free(). `add_special`: with what the tokenizer puts around a
 * text, <bos> for example. */
TOKAMAK_API uint32_t* tokamak_model_tokenize(const tokamak_model* model, const char* text,
                                             bool add_special, size_t* count,
                                             tokamak_error** error);
/* The caller frees with tokamak_text_free(). */
TOKAMAK_API char* tokamak_model_detokenize(const tokamak_model* model, const uint32_t* ids,
                                           size_t count, tokamak_error** error);
/* The text of a chat: `variables` is a JSON object with `messages` and whatever else the model's
 * template reads. The caller frees with tokamak_text_free(). */
TOKAMAK_API char* tokamak_model_render_chat(const tokamak_model* model, const char* variables,
                                            tokamak_error** error);

/* Text ---------------------------------------------------------------------------------------- */

/* A text to continue, and the options for it. Only one of a prompt, ids and a chat is given. */
TOKAMAK_API tokamak_request* tokamak_request_new(void);
TOKAMAK_API void tokamak_request_free(tokamak_request* request);
/* Names: prompt, suffix, chat_variables, max_tokens, temperature, top_k, top_p, min_p, typical_p,
 * repetition_penalty, presence_penalty, frequency_penalty, logit_bias (ID:BIAS; each call adds
 * one), seed, stop (each call adds one), end_ids ("2,5"; "": none), min_tokens, logprobs,
 * top_logprobs, prompt_logprobs, grammar, json_schema, regex, choices (each call adds one),
 * separate_reasoning, priority, deadline (seconds), tenant, adapter; tokamak/request.h describes
 * them. */
TOKAMAK_API bool tokamak_request_set(tokamak_request* request, const char* name, const char* value,
                                     tokamak_error** error);
/* Tokens to continue, as they are. */
TOKAMAK_API bool tokamak_request_set_ids(tokamak_request* request, const uint32_t* ids,
                                         size_t count, tokamak_error** error);
/* Adds a message to the chat; roles as the model's template has them: "system", "user", ... */
TOKAMAK_API bool tokamak_request_add_message(tokamak_request* request, const char* role,
                                             const char* content, tokamak_error** error);
/* Adds an image, which stands before the content of the last message: the bytes of a file in PNG,
 * JPEG or WebP, which are copied. Fails where there is no message. The model must have been opened
 * with image_pixels. */
TOKAMAK_API bool tokamak_request_add_image(tokamak_request* request, const void* bytes,
                                           size_t count, tokamak_error** error);
/* The same of a file, which tokamak_model_start() reads. */
TOKAMAK_API bool tokamak_request_add_image_file(tokamak_request* request, const char* path,
                                                tokamak_error** error);

/* Begins a request and returns at once. `request` stays the caller's. */
TOKAMAK_API tokamak_stream* tokamak_model_start(tokamak_model* model,
                                                const tokamak_request* request,
                                                tokamak_error** error);
/* Cancels the request where it has not ended. */
TOKAMAK_API void tokamak_stream_free(tokamak_stream* stream);
/* Cancels the request; the result is then the text generated so far. */
TOKAMAK_API void tokamak_stream_cancel(tokamak_stream* stream);

/* A token and its natural logarithm of a probability. */
typedef struct {
  uint32_t id;
  float logprob;
} tokamak_token_logprob;

/* The text and tokens since the last piece. `size` is sizeof(tokamak_piece) as the caller knows it:
 * later versions of the library may have more at the end, and fill no more than that. */
typedef struct {
  size_t size;
  const char* text; /* whole characters; may be empty */
  size_t text_bytes;
  const uint32_t* ids;   /* of its tokens */
  const float* logprobs; /* of those; NULL where they were not asked for */
  size_t count;          /* of tokens */
  /* The most probable tokens in place of each, best first: `top_count` for the first token, then as
   * many for the next. NULL where top_logprobs is 0. */
  const tokamak_token_logprob* top;
  size_t top_count;
  const char* reasoning; /* with separate_reasoning, before the text; may be empty */
  size_t reasoning_bytes;
} tokamak_piece;

typedef enum {
  TOKAMAK_STREAM_END = 0,
  TOKAMAK_STREAM_PIECE = 1,
  TOKAMAK_STREAM_TIMEOUT = 2
} tokamak_next;

/* Waits until there is more, at most `timeout` seconds; a negative one: without end. Fills `piece`
 * where it returns TOKAMAK_STREAM_PIECE. */
TOKAMAK_API tokamak_next tokamak_stream_next(tokamak_stream* stream, double timeout,
                                             tokamak_piece* piece);

/* Wakes an event loop, by the model's thread: tokamak_stream_next() has something to give. */
typedef void (*tokamak_ready)(void* user);
/* Calls `ready` whenever the stream has more or ends, and at once where it has. NULL ends that; it
 * is not called any more once that call, or tokamak_stream_free(), has returned. */
TOKAMAK_API void tokamak_stream_on_ready(tokamak_stream* stream, tokamak_ready ready, void* user);

/* The result of a request; `size` is sizeof(tokamak_result) as the caller knows it: later versions
 * of the library may have more at the end, and fill no more than that. */
typedef struct {
  size_t size;
  const char* text; /* the whole of it */
  size_t text_bytes;
  const uint32_t* ids; /* the generated ones */
  size_t count;        /* of ids */
  const char* finish;  /* end, stop, length, context, cancelled or grammar */
  const char* stop;    /* the stop string that was met, or "" */
  uint64_t seed;       /* with it in the request, the same text again */
  size_t prompt_tokens;
  size_t cached_tokens;   /* of the prompt: they did not run again */
  double prefill_seconds; /* until the first token was chosen */
  double decode_seconds;  /* the rest */
  /* With prompt_logprobs, those of the prompt's tokens but the first, and those of the most
   * probable tokens in their places as in tokamak_piece. Else NULL. */
  const tokamak_token_logprob* prompt_logprobs;
  size_t prompt_logprob_count;
  const tokamak_token_logprob* prompt_top;
  size_t prompt_top_count;
  const char* reasoning; /* with separate_reasoning, the whole of it */
  size_t reasoning_bytes;
} tokamak_result;

/* Waits until the request has ended. Being cancelled is no error. */
TOKAMAK_API bool tokamak_stream_result(tokamak_stream* stream, tokamak_result* result,
                                       tokamak_error** error);

#ifdef __cplusplus
}
#endif
