/* The C interface to the protocols that `tokamak serve` answers, without a server: OpenAI's,
 * Anthropic's and Ollama's; docs/openai.md has the paths and fields, c.h describes handles and
 * errors. */
#pragma once
#include "tokamak/c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tokamak_call tokamak_call;

/* Begins a request and returns at once: a path such as "/v1/chat/completions" and the JSON of its
 * body, NULL for a path that is asked by GET. Only a closed model and a model that speaks without a
 * codec are errors here; what the server answers with an error has that answer. */
TOKAMAK_API tokamak_call* tokamak_model_call(tokamak_model* model, const char* path,
                                             const char* body, tokamak_error** error);
/* Cancels the call where it has not ended. */
TOKAMAK_API void tokamak_call_free(tokamak_call* call);
/* The rest of the answer is then an error. Any thread. */
TOKAMAK_API void tokamak_call_cancel(tokamak_call* call);
/* Does the same as tokamak_stream_on_ready(). */
TOKAMAK_API void tokamak_call_on_ready(tokamak_call* call, tokamak_ready ready, void* user);

/* A part of an answer: of a stream one event, without what frames it; else the whole body. `size`
 * is as that of tokamak_piece. */
typedef struct {
  size_t size;
  int status;               /* of HTTP: 200, or that of an error, whose JSON is the body */
  const char* content_type; /* as the server names it: text/event-stream, ... */
  const char* bytes;        /* with a zero after them */
  size_t count;
} tokamak_answer_part;

/* Waits as tokamak_stream_next(), and fills `part` where it returns TOKAMAK_STREAM_PIECE. */
TOKAMAK_API tokamak_next tokamak_call_next(tokamak_call* call, double timeout,
                                           tokamak_answer_part* part);

/* A tool that a model calls. */
typedef struct {
  const char* id; /* for the message with its result */
  const char* name;
  const char* arguments; /* a JSON object; of a tool of the type "custom" its text */
} tokamak_tool_call;

/* The reply of a chat: its text, its reasoning and the calls of tools, each apart. `size` is as
 * that of tokamak_piece. */
typedef struct {
  size_t size;
  const char* text; /* without reasoning and calls */
  size_t text_bytes;
  const char* reasoning; /* of a model that reasons, or "" */
  size_t reasoning_bytes;
  const tokamak_tool_call* tool_calls;
  size_t tool_call_count;
  const char* finish; /* stop, length or tool_calls, as in OpenAI's protocol */
} tokamak_chat_reply;

/* Waits for the rest of the answer of "/v1/chat/completions", streamed or not, and gives its first
 * choice, which belongs to the call. What the server answers with an error is an error here. */
TOKAMAK_API bool tokamak_call_chat_reply(tokamak_call* call, tokamak_chat_reply* reply,
                                         tokamak_error** error);

#ifdef __cplusplus
}
#endif
