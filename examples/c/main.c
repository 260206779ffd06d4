/* stream [MODEL [PROMPT [BACKEND]]]: examples/stream in C.
 *   cc main.c -o stream $(pkg-config --cflags --libs tokamak) */
#include <stdio.h>
#include <tokamak/c.h>

static int report(tokamak_error* error) {
  fprintf(stderr, "error: %s\n", tokamak_error_message(error));
  tokamak_error_free(error);
  return 1;
}

static int continue_text(tokamak_model* model, const char* prompt) {
  tokamak_error* error = NULL;
  tokamak_request* request = tokamak_request_new();
  const bool is_set = tokamak_request_set(request, "prompt", prompt, &error) &&
                      tokamak_request_set(request, "max_tokens", "32", &error) &&
                      tokamak_request_set(request, "temperature", "0", &error);
  tokamak_stream* stream = is_set ? tokamak_model_start(model, request, &error) : NULL;
  tokamak_request_free(request);
  if (stream == NULL) return report(error);

  tokamak_piece piece = {.size = sizeof piece};
  while (tokamak_stream_next(stream, -1, &piece) == TOKAMAK_STREAM_PIECE) {
    fwrite(piece.text, 1, piece.text_bytes, stdout);
    fflush(stdout);
  }
  tokamak_result result = {.size = sizeof result};
  const bool is_whole = tokamak_stream_result(stream, &result, &error);
  if (is_whole) printf("\n%zu tokens, %s\n", result.count, result.finish);
  tokamak_stream_free(stream);
  return is_whole ? 0 : report(error);
}

int main(int argc, char** argv) {
  tokamak_error* error = NULL;
  tokamak_options* options = tokamak_options_new();
  const bool is_set = (argc <= 1 || tokamak_options_set(options, "model", argv[1], &error)) &&
                      (argc <= 3 || tokamak_options_set(options, "backend", argv[3], &error));
  tokamak_model* model = is_set ? tokamak_model_open(options, &error) : NULL;
  tokamak_options_free(options);
  if (model == NULL) return report(error);
  const int status = continue_text(model, argc > 2 ? argv[2] : "Once upon a time");
  tokamak_model_free(model);
  return status;
}
