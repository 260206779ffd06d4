"""The C interface for ctypes, made of include/tokamak/c*.h by tools/python_declarations.py."""
from __future__ import annotations

import ctypes
import enum
from ctypes import (CFUNCTYPE, POINTER, c_bool, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, Tuple


class ErrorCode(enum.IntEnum):
    USAGE = 0
    INVALID_INPUT = 1
    UNSUPPORTED = 2
    DEVICE = 3
    DEVICE_LOST = 4
    OUT_OF_MEMORY = 5
    CANCELLED = 6


class LoadPhase(enum.IntEnum):
    FILES = 0
    WEIGHTS = 1
    KERNELS = 2


class Next(enum.IntEnum):
    END = 0
    PIECE = 1
    TIMEOUT = 2


class PullStage(enum.IntEnum):
    LOOK_UP = 0
    WAIT = 1
    FETCH = 2
    CHECK = 3


class TokenLogprob(ctypes.Structure):
    _fields_ = [
        ("id", c_uint32),
        ("logprob", c_float),
    ]


class Piece(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", POINTER(c_uint32)),
        ("logprobs", POINTER(c_float)),
        ("count", c_size_t),
        ("top", POINTER(TokenLogprob)),
        ("top_count", c_size_t),
        ("reasoning", c_void_p),
        ("reasoning_bytes", c_size_t),
    ]


class Result(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", POINTER(c_uint32)),
        ("count", c_size_t),
        ("finish", c_void_p),
        ("stop", c_void_p),
        ("seed", c_uint64),
        ("prompt_tokens", c_size_t),
        ("cached_tokens", c_size_t),
        ("prefill_seconds", c_double),
        ("decode_seconds", c_double),
        ("prompt_logprobs", POINTER(TokenLogprob)),
        ("prompt_logprob_count", c_size_t),
        ("prompt_top", POINTER(TokenLogprob)),
        ("prompt_top_count", c_size_t),
        ("reasoning", c_void_p),
        ("reasoning_bytes", c_size_t),
    ]


class AnswerPart(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("status", c_int),
        ("content_type", c_void_p),
        ("bytes", c_void_p),
        ("count", c_size_t),
    ]


class ToolCall(ctypes.Structure):
    _fields_ = [
        ("id", c_void_p),
        ("name", c_void_p),
        ("arguments", c_void_p),
    ]


class ChatReply(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("reasoning", c_void_p),
        ("reasoning_bytes", c_size_t),
        ("tool_calls", POINTER(ToolCall)),
        ("tool_call_count", c_size_t),
        ("finish", c_void_p),
    ]


class TokenWeight(ctypes.Structure):
    _fields_ = [
        ("id", c_uint32),
        ("weight", c_float),
    ]


Progress = CFUNCTYPE(c_bool, c_void_p, c_int, c_uint64, c_uint64)
Notice = CFUNCTYPE(None, c_void_p, c_char_p)
Cancelled = CFUNCTYPE(c_bool, c_void_p)
Ready = CFUNCTYPE(None, c_void_p)
PullProgress = CFUNCTYPE(c_bool, c_void_p, c_int, c_char_p, c_uint64, c_uint64)
Segment = CFUNCTYPE(None, c_void_p, c_double, c_double, c_char_p)
Samples = CFUNCTYPE(None, c_void_p, POINTER(c_float), c_size_t, c_uint32)

# The type of the result and those of the arguments.
FUNCTIONS: Dict[str, Tuple[Any, ...]] = {
    "tokamak_version": (c_char_p,),
    "tokamak_error_get_code": (c_int, c_void_p),
    "tokamak_error_message": (c_char_p, c_void_p),
    "tokamak_error_free": (None, c_void_p),
    "tokamak_text_free": (None, c_void_p),
    "tokamak_ids_free": (None, POINTER(c_uint32)),
    "tokamak_list_devices": (c_void_p, POINTER(c_void_p)),
    "tokamak_options_new": (c_void_p,),
    "tokamak_options_free": (None, c_void_p),
    "tokamak_options_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_options_on_progress": (None, c_void_p, Progress, c_void_p),
    "tokamak_options_on_notice": (None, c_void_p, Notice, c_void_p),
    "tokamak_model_open": (c_void_p, c_void_p, POINTER(c_void_p)),
    "tokamak_model_close": (None, c_void_p),
    "tokamak_model_free": (None, c_void_p),
    "tokamak_model_pump": (c_bool, c_void_p),
    "tokamak_model_details": (c_char_p, c_void_p),
    "tokamak_model_tokenize": (POINTER(c_uint32), c_void_p, c_char_p, c_bool, POINTER(c_size_t), POINTER(c_void_p)),
    "tokamak_model_detokenize": (c_void_p, c_void_p, POINTER(c_uint32), c_size_t, POINTER(c_void_p)),
    "tokamak_model_render_chat": (c_void_p, c_void_p, c_char_p, POINTER(c_void_p)),
    "tokamak_request_new": (c_void_p,),
    "tokamak_request_free": (None, c_void_p),
    "tokamak_request_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_request_set_ids": (c_bool, c_void_p, POINTER(c_uint32), c_size_t, POINTER(c_void_p)),
    "tokamak_request_add_message": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_request_add_image": (c_bool, c_void_p, c_void_p, c_size_t, POINTER(c_void_p)),
    "tokamak_request_add_image_file": (c_bool, c_void_p, c_char_p, POINTER(c_void_p)),
    "tokamak_model_start": (c_void_p, c_void_p, c_void_p, POINTER(c_void_p)),
    "tokamak_stream_free": (None, c_void_p),
    "tokamak_stream_cancel": (None, c_void_p),
    "tokamak_stream_next": (c_int, c_void_p, c_double, POINTER(Piece)),
    "tokamak_stream_on_ready": (None, c_void_p, Ready, c_void_p),
    "tokamak_stream_result": (c_bool, c_void_p, POINTER(Result), POINTER(c_void_p)),
    "tokamak_list_models": (c_void_p, POINTER(c_void_p)),
    "tokamak_locate_model": (c_void_p, c_char_p, POINTER(c_void_p)),
    "tokamak_pull_model": (c_void_p, c_char_p, PullProgress, c_void_p, POINTER(c_void_p)),
    "tokamak_model_call": (c_void_p, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_call_free": (None, c_void_p),
    "tokamak_call_cancel": (None, c_void_p),
    "tokamak_call_on_ready": (None, c_void_p, Ready, c_void_p),
    "tokamak_call_next": (c_int, c_void_p, c_double, POINTER(AnswerPart)),
    "tokamak_call_chat_reply": (c_bool, c_void_p, POINTER(ChatReply), POINTER(c_void_p)),
    "tokamak_transcribe_options_new": (c_void_p,),
    "tokamak_transcribe_options_free": (None, c_void_p),
    "tokamak_transcribe_options_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_transcribe_options_on_step": (None, c_void_p, Cancelled, c_void_p),
    "tokamak_transcribe_options_on_segment": (None, c_void_p, Segment, c_void_p),
    "tokamak_model_transcribe": (c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, POINTER(c_void_p)),
    "tokamak_model_transcribe_samples": (c_void_p, c_void_p, POINTER(c_float), c_size_t, c_void_p, POINTER(c_void_p)),
    "tokamak_transcript_format": (c_char_p, c_void_p, c_char_p, POINTER(c_void_p)),
    "tokamak_transcript_free": (None, c_void_p),
    "tokamak_speak_options_new": (c_void_p,),
    "tokamak_speak_options_free": (None, c_void_p),
    "tokamak_speak_options_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_speak_options_set_speaker": (c_bool, c_void_p, POINTER(c_float), c_size_t, POINTER(c_void_p)),
    "tokamak_speak_options_on_step": (None, c_void_p, Cancelled, c_void_p),
    "tokamak_speak_options_on_samples": (None, c_void_p, Samples, c_void_p),
    "tokamak_model_speak": (c_void_p, c_void_p, c_char_p, c_void_p, POINTER(c_void_p)),
    "tokamak_speech_samples": (POINTER(c_float), c_void_p, POINTER(c_size_t), POINTER(c_uint32)),
    "tokamak_speech_encode": (c_void_p, c_void_p, c_char_p, POINTER(c_size_t), POINTER(c_void_p)),
    "tokamak_speech_free": (None, c_void_p),
    "tokamak_embed_options_new": (c_void_p,),
    "tokamak_embed_options_free": (None, c_void_p),
    "tokamak_embed_options_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_embed_options_on_step": (None, c_void_p, Cancelled, c_void_p),
    "tokamak_model_embed": (c_void_p, c_void_p, POINTER(c_char_p), c_size_t, c_void_p, POINTER(c_void_p)),
    "tokamak_vectors_at": (POINTER(c_float), c_void_p, c_size_t, POINTER(c_size_t)),
    "tokamak_vectors_data": (POINTER(c_float), c_void_p, POINTER(c_size_t), POINTER(c_size_t)),
    "tokamak_vectors_free": (None, c_void_p),
    "tokamak_model_embed_sparse": (c_void_p, c_void_p, POINTER(c_char_p), c_size_t, c_void_p, POINTER(c_void_p)),
    "tokamak_sparse_vectors_at": (POINTER(TokenWeight), c_void_p, c_size_t, POINTER(c_size_t)),
    "tokamak_sparse_vectors_free": (None, c_void_p),
    "tokamak_rerank_options_new": (c_void_p,),
    "tokamak_rerank_options_free": (None, c_void_p),
    "tokamak_rerank_options_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_rerank_options_on_step": (None, c_void_p, Cancelled, c_void_p),
    "tokamak_model_rerank": (c_bool, c_void_p, c_char_p, POINTER(c_char_p), c_size_t, c_void_p, POINTER(c_float), POINTER(c_void_p)),
    "tokamak_logits_options_new": (c_void_p,),
    "tokamak_logits_options_free": (None, c_void_p),
    "tokamak_logits_options_set": (c_bool, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)),
    "tokamak_logits_options_on_step": (None, c_void_p, Cancelled, c_void_p),
    "tokamak_model_logits": (c_bool, c_void_p, POINTER(c_uint32), c_size_t, c_void_p, POINTER(c_float), c_size_t, POINTER(c_void_p)),
}
