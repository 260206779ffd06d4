/* The C interface to the models on this machine, and to a Hugging Face hub that has others; c.h
 * describes texts and errors, tokamak/hub.h the environment variables for cache and hub. Texts
 * are the caller's to free, with tokamak_text_free(). */
#pragma once
#include "tokamak/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The models in the cache, as a JSON list of objects: name, commit, revisions, folder, files,
 * bytes, partial_bytes, missing (why it cannot be opened; "" where it can). */
TOKAMAK_API char* tokamak_list_models(tokamak_error** error);
/* The folder or file that the option "model" means. */
TOKAMAK_API char* tokamak_locate_model(const char* model, tokamak_error** error);

typedef enum {
  TOKAMAK_PULL_LOOK_UP = 0,
  TOKAMAK_PULL_WAIT = 1,
  TOKAMAK_PULL_FETCH = 2, /* `done` of `total` bytes */
  TOKAMAK_PULL_CHECK = 3
} tokamak_pull_stage;
/* `text`: the file that is looked up or checked, or why it waits. False cancels: pulling fails with
 * TOKAMAK_CANCELLED, and what has come stays for the next time. */
typedef bool (*tokamak_pull_progress)(void* user, tokamak_pull_stage stage, const char* text,
                                      uint64_t done, uint64_t total);
/* Fetches what is missing of org/name[@revision][:file or quantization] and gives its path; blocks.
 * `progress` may be NULL. */
TOKAMAK_API char* tokamak_pull_model(const char* name, tokamak_pull_progress progress, void* user,
                                     tokamak_error** error);

#ifdef __cplusplus
}
#endif
