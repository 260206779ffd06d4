"""Shapes of models that see, hear, speak, embed and rank, for tools/random_model: the files of such
a checkpoint beside its weights, and the names and shapes of these."""
import math

# The values of each model's config.json. `tower`: of the tower in front of a text model; its
# layers, hidden states, heads, feed-forward network and pixels of a patch's side; `taps`: the layers
# whose output the text reads, too.
SHAPES = {
    "qwen3.5-0.8b-vl": dict(text="qwen3.5-0.8b", tower=dict(layers=12, hidden=768, heads=12,
                                                            ffn=3072, patch=16, table=48)),
    "qwen3-vl-2b": dict(text="qwen3-0.6b", hidden=2048, ffn=6144, context=262144, theta=5e6,
                        tower=dict(layers=24, hidden=1024, heads=16, ffn=4096, patch=16, table=48,
                                   taps=[5, 11, 17])),
    "gemma3-4b": dict(arch="gemma3", layers=34, hidden=2560, heads=8, kv_heads=4, head_dim=256,
                      ffn=10240, vocab=262208, context=131072, theta=1e6, eps=1e-6, window=1024,
                      bos=2, eos=1, rope_scaling={"factor": 8.0, "rope_type": "linear"},
                      tower=dict(layers=27, hidden=1152, heads=16, ffn=4304, patch=14, image=896,
                                 tokens=256)),
    "whisper-base": dict(arch="whisper", layers=6, hidden=512, heads=8, ffn=2048, vocab=51865,
                         context=448, rows=1500),
    "whisper-small": dict(arch="whisper", layers=12, hidden=768, heads=12, ffn=3072, vocab=51865,
                          context=448, rows=1500),
    "moonshine-tiny": dict(arch="moonshine", layers=6, hidden=288, heads=8, ffn=1152, vocab=32768,
                           context=194, rotary=0.9),
    "moonshine-base": dict(arch="moonshine", layers=8, hidden=416, heads=8, ffn=1664, vocab=32768,
                           context=194, rotary=0.62),
    "minilm-l6": dict(arch="bert", layers=6, hidden=384, heads=12, ffn=1536, vocab=30522,
                      context=512, pooling="mean_tokens", most=256),
    "bge-base": dict(arch="bert", layers=12, hidden=768, heads=12, ffn=3072, vocab=30522,
                     context=512, pooling="cls_token", most=512),
    "ms-marco-minilm-l6": dict(arch="bert", layers=6, hidden=384, heads=12, ffn=1536, vocab=30522,
                               context=512, ranks=True),
    "kani-tts-2": dict(arch="lfm2", layers=16, hidden=1024, heads=16, kv_heads=8, head_dim=64,
                       ffn=4608, vocab=80538, context=128000, theta=1e6, bos=1, eos=64402,
                       full=[2, 5, 8, 10, 12, 14], voice=dict(text=64400, speaker=128)),
    "nanocodec": dict(arch="nanocodec", hidden=864, rates=[7, 7, 6, 3, 2], groups=4,
                      levels=[9, 8, 8, 7], sample_rate=22050),
}
SPECIAL = 10  # tokens of a voice between its text and its codes
TAPS, DILATIONS = [3, 7, 11], [1, 3, 5]  # of a codec
WHISPER_SPECIAL = 1608  # ids from the end of Whisper's text on, of which 1501 are timestamps


class Rows:
    """Tensors as random_model.tensors() gives them."""

    def __init__(self):
        self.rows = []

    def add(self, name, *shape, mean=0.0, deviation=None):
        if deviation is None:
            deviation = 1 / math.sqrt(math.prod(shape[1:])) if len(shape) > 1 else 0.1
        self.rows.append((name, list(shape), mean, deviation))

    def linear(self, name, out, *columns, bias=True):
        self.add(name + ".weight", out, *columns)
        if bias:
            self.add(name + ".bias", out)

    def norm(self, name, size, bias=True):
        self.add(name + ".weight", size, mean=1.0)
        if bias:
            self.add(name + ".bias", size)

    def table(self, name, rows, columns, deviation=0.5):
        self.add(name + ".weight", rows, columns, deviation=deviation)


def whisper_tensors(model):
    hidden, ffn, r = model["hidden"], model["ffn"], Rows()

    def attention(p):
        for name in "q_proj", "k_proj", "v_proj", "out_proj":
            r.linear(p + name, hidden, hidden, bias=name != "k_proj")
        r.norm(p[:-1] + "_layer_norm", hidden)

    for side, positions in ("encoder", model["rows"]), ("decoder", model["context"]):
        p = f"model.{side}."
        r.table(p + "embed_positions", positions, hidden)
        r.norm(p + "layer_norm", hidden)
        for layer in range(model["layers"]):
            q = f"{p}layers.{layer}."
            attention(q + "self_attn.")
            if side == "decoder":
                attention(q + "encoder_attn.")
            r.linear(q + "fc1", ffn, hidden)
            r.linear(q + "fc2", hidden, ffn)
            r.norm(q + "final_layer_norm", hidden)
    r.linear("model.encoder.conv1", hidden, 80, 3)
    r.linear("model.encoder.conv2", hidden, hidden, 3)
    r.table("model.decoder.embed_tokens", model["vocab"], hidden, 2 / math.sqrt(hidden))
    return r.rows


def whisper_files(model, torch_dtype):
    first = model["vocab"] - WHISPER_SPECIAL  # the end of a text; what steers follows
    if first < 1:
        raise SystemExit(f"error: --vocab is {model['vocab']}; {WHISPER_SPECIAL} are not text.")
    config = {"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper",
              "vocab_size": model["vocab"], "num_mel_bins": 80, "d_model": model["hidden"],
              "activation_function": "gelu", "max_source_positions": model["rows"],
              "max_target_positions": model["context"], "scale_embedding": False,
              "decoder_start_token_id": first + 1, "eos_token_id": first, "bos_token_id": first,
              "torch_dtype": torch_dtype}
    for side in "encoder", "decoder":
        config.update({f"{side}_layers": model["layers"], f"{side}_ffn_dim": model["ffn"],
                       f"{side}_attention_heads": model["heads"]})
    generation = {"eos_token_id": first, "decoder_start_token_id": first + 1,
                  "is_multilingual": True, "lang_to_id": {"<|en|>": first + 2},
                  "task_to_id": {"translate": first + 101, "transcribe": first + 102},
                  "prev_sot_token_id": first + 104, "no_timestamps_token_id": first + 106,
                  "suppress_tokens": [], "begin_suppress_tokens": [first],
                  "max_initial_timestamp_index": 50}
    return {"config.json": config, "generation_config.json": generation}


def moonshine_tensors(model):
    hidden, ffn, r = model["hidden"], model["ffn"], Rows()

    def attention(p):
        for name in "q_proj", "k_proj", "v_proj", "o_proj":
            r.linear(p + name, hidden, hidden, bias=False)

    for side, final in ("encoder", "layer_norm"), ("decoder", "norm"):
        r.norm(f"model.{side}.{final}", hidden, bias=False)
        for layer in range(model["layers"]):
            p = f"model.{side}.layers.{layer}."
            attention(p + "self_attn.")
            norms = ["input_layernorm", "post_attention_layernorm"]
            if side == "decoder":
                attention(p + "encoder_attn.")
                norms.append("final_layernorm")
            for name in norms:
                r.norm(p + name, hidden, bias=False)
            r.linear(p + "mlp.fc1", ffn * (2 if side == "decoder" else 1), hidden)
            r.linear(p + "mlp.fc2", hidden, ffn)
    r.linear("model.encoder.conv1", hidden, 1, 127, bias=False)
    r.norm("model.encoder.groupnorm", hidden)
    r.linear("model.encoder.conv2", 2 * hidden, hidden, 7)
    r.linear("model.encoder.conv3", hidden, 2 * hidden, 3)
    r.table("model.decoder.embed_tokens", model["vocab"], hidden, 2 / math.sqrt(hidden))
    return r.rows


def moonshine_files(model, torch_dtype):
    config = {"architectures": ["MoonshineForConditionalGeneration"], "model_type": "moonshine",
              "vocab_size": model["vocab"], "hidden_size": model["hidden"],
              "intermediate_size": model["ffn"], "encoder_hidden_act": "gelu",
              "decoder_hidden_act": "silu", "max_position_embeddings": model["context"],
              "rope_theta": 10000.0, "partial_rotary_factor": model["rotary"],
              "attention_bias": False, "bos_token_id": 1, "eos_token_id": 2,
              "decoder_start_token_id": 1, "torch_dtype": torch_dtype}
    for side in "encoder", "decoder":
        config.update({f"{side}_num_hidden_layers": model["layers"],
                       f"{side}_num_attention_heads": model["heads"],
                       f"{side}_num_key_value_heads": model["heads"]})
    generation = {"bos_token_id": 1, "eos_token_id": 2, "do_sample": False}
    return {"config.json": config, "generation_config.json": generation}


def bert_tensors(model):
    hidden, ffn, r = model["hidden"], model["ffn"], Rows()
    p = "bert." if model.get("ranks") else ""
    for name, rows in (("word", model["vocab"]), ("position", model["context"]),
                       ("token_type", 2)):
        r.table(f"{p}embeddings.{name}_embeddings", rows, hidden)
    r.norm(p + "embeddings.LayerNorm", hidden)
    for layer in range(model["layers"]):
        q = f"{p}encoder.layer.{layer}."
        for name in "query", "key", "value":
            r.linear(f"{q}attention.self.{name}", hidden, hidden)
        r.linear(q + "attention.output.dense", hidden, hidden)
        r.norm(q + "attention.output.LayerNorm", hidden)
        r.linear(q + "intermediate.dense", ffn, hidden)
        r.linear(q + "output.dense", hidden, ffn)
        r.norm(q + "output.LayerNorm", hidden)
    r.linear(p + "pooler.dense", hidden, hidden)
    if model.get("ranks"):
        r.linear("classifier", 1, hidden)
    return r.rows


def bert_files(model, torch_dtype):
    ranks = model.get("ranks")
    config = {"architectures": ["BertForSequenceClassification" if ranks else "BertModel"],
              "model_type": "bert", "vocab_size": model["vocab"], "hidden_size": model["hidden"],
              "intermediate_size": model["ffn"], "num_hidden_layers": model["layers"],
              "num_attention_heads": model["heads"], "hidden_act": "gelu",
              "max_position_embeddings": model["context"], "layer_norm_eps": 1e-12,
              "type_vocab_size": 2, "position_embedding_type": "absolute",
              "torch_dtype": torch_dtype}
    if ranks:
        return {"config.json": {**config, "id2label": {"0": "LABEL_0"}}}
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [{"idx": i, "name": str(i), "path": path,
                "type": "sentence_transformers.models." + kind}
               for i, (path, kind) in enumerate(kinds)]
    pooling = {"word_embedding_dimension": model["hidden"],
               **{f"pooling_mode_{kind}": kind == model["pooling"]
                  for kind in ("cls_token", "mean_tokens", "max_tokens")}}
    return {"config.json": config, "modules.json": modules, "1_Pooling/config.json": pooling,
            "sentence_bert_config.json": {"max_seq_length": min(model["most"], model["context"])}}


def voice_tensors(model):
    """What a voice has beside its decoder."""
    r = Rows()
    for layer in model["full"]:
        if layer < model["layers"]:
            r.add(f"model.learnable_rope_layers.{layer}.alpha_weight", deviation=0.1)
    r.linear("model.speaker_emb_projection", model["hidden"], model["voice"]["speaker"], bias=False)
    return r.rows


def voice_files(model, config):
    """`config`: that of the decoder."""
    start = model["voice"]["text"] + SPECIAL
    config.update({"architectures": ["KaniTTS2ForCausalLM"], "audio_tokens_start": start,
                   "tokens_per_frame": 4, "audio_step": 1.0, "use_learnable_rope": True,
                   "alpha_min": 0.1, "alpha_max": 2.0, "speaker_emb_dim": model["voice"]["speaker"],
                   "text_vocab_size": model["voice"]["text"]})
    # A token for each letter, so that a sentence has as many tokens as letters.
    names = {3: "\u0120"} | {i: chr(i) for i in range(33, 127)}
    vocab = {names.get(i, f"<{i}>"): i for i in range(start)}
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    tokenizer = {"added_tokens": [], "pre_tokenizer": level, "decoder": {"type": "ByteLevel"},
                 "normalizer": None, "post_processor": None,
                 "model": {"type": "BPE", "vocab": vocab, "merges": []}}
    return {"config.json": config, "tokenizer.json": tokenizer}


def codec_tensors(model):
    r = Rows()

    def convolution(name, out, columns, taps, bias=None):
        r.add(f"{name}.conv.weight_v", out, columns, taps, deviation=1.0)
        r.add(f"{name}.conv.weight_g", out, 1, 1, mean=0.5, deviation=0.1)
        r.add(f"{name}.conv.bias", bias or out)

    def snake(name, columns):
        r.add(f"{name}.activation.snake_act.alpha", 1, columns // 2, 1, mean=1.0, deviation=0.2)

    p, columns = "audio_decoder.", model["hidden"]
    convolution(p + "pre_conv", columns, model["groups"] * len(model["levels"]), 7)
    for i, rate in enumerate(model["rates"]):
        snake(f"{p}activations.{i}", columns)
        convolution(f"{p}up_sample_conv_layers.{i}", columns, 1, 2 * rate, bias=columns // 2)
        columns //= 2
        for j, taps in enumerate(TAPS):
            for m in range(len(DILATIONS)):
                block = f"{p}res_layers.{i}.res_blocks.{j}.res_blocks.{m}."
                for half in "input", "skip":
                    snake(f"{block}{half}_activation", columns)
                    convolution(f"{block}{half}_conv", columns, columns, taps)
    snake(p + "post_activation", columns)
    convolution(p + "post_conv", 1, columns, 3)
    return r.rows


def codec_files(model, _):
    decoder = {"up_sample_rates": model["rates"], "base_channels": model["hidden"],
               "input_dim": model["groups"] * len(model["levels"]), "activation": "half_snake",
               "output_activation": "clamp", "pad_mode": "zeros"}
    quantizer = {"num_groups": model["groups"], "num_levels_per_group": model["levels"]}
    return {"config.json": {"architectures": ["NanoCodecDecoder"], "model_type": "nanocodec",
                            "sample_rate": model["sample_rate"],
                            "samples_per_frame": math.prod(model["rates"]),
                            "audio_decoder": decoder, "vector_quantizer": quantizer}}


def tapped(tower):
    return [layer for layer in tower.get("taps", []) if layer < tower["layers"]]


def qwen_tower(model):
    tower, r = model["tower"], Rows()
    hidden, joined, p = tower["hidden"], 4 * tower["hidden"], "model.visual."
    r.linear(p + "patch_embed.proj", hidden, 3, 2, tower["patch"], tower["patch"])
    r.table(p + "pos_embed", tower["table"] ** 2, hidden)
    for layer in range(tower["layers"]):
        q = f"{p}blocks.{layer}."
        r.norm(q + "norm1", hidden)
        r.norm(q + "norm2", hidden)
        r.linear(q + "attn.qkv", 3 * hidden, hidden)
        r.linear(q + "attn.proj", hidden, hidden)
        r.linear(q + "mlp.linear_fc1", tower["ffn"], hidden)
        r.linear(q + "mlp.linear_fc2", hidden, tower["ffn"])
    mergers = [(f"deepstack_merger_list.{i}.", joined) for i in range(len(tapped(tower)))]
    for merger, normed in [("merger.", hidden), *mergers]:
        r.norm(p + merger + "norm", normed)
        r.linear(p + merger + "linear_fc1", joined, joined)
        r.linear(p + merger + "linear_fc2", model["hidden"], joined)
    return r.rows


def siglip_tower(model):
    tower, r = model["tower"], Rows()
    hidden, p = tower["hidden"], "vision_tower.vision_model."
    r.linear(p + "embeddings.patch_embedding", hidden, 3, tower["patch"], tower["patch"])
    r.table(p + "embeddings.position_embedding", (tower["image"] // tower["patch"]) ** 2, hidden)
    for layer in range(tower["layers"]):
        q = f"{p}encoder.layers.{layer}."
        r.norm(q + "layer_norm1", hidden)
        r.norm(q + "layer_norm2", hidden)
        for name in "q_proj", "k_proj", "v_proj", "out_proj":
            r.linear(f"{q}self_attn.{name}", hidden, hidden)
        r.linear(q + "mlp.fc1", tower["ffn"], hidden)
        r.linear(q + "mlp.fc2", hidden, tower["ffn"])
    r.norm(p + "post_layernorm", hidden)
    r.add("multi_modal_projector.mm_input_projection_weight", hidden, model["hidden"],
          deviation=1 / math.sqrt(hidden))
    r.add("multi_modal_projector.mm_soft_emb_norm.weight", hidden)
    return r.rows


def seeing_tensors(model, text):
    """`text`: the rows of the text model, under the names that they have alone."""
    qwen = model["arch"].startswith("qwen")
    prefix = "model.language_model." if qwen else "language_model.model."
    renamed = [(prefix + name.removeprefix("model."), *rest) for name, *rest in text]
    return renamed + (qwen_tower if qwen else siglip_tower)(model)


def seeing_files(model, text):
    """`text`: what config.json of the text model says."""
    tower = model["tower"]
    own = {"hidden_size": tower["hidden"], "intermediate_size": tower["ffn"],
           "patch_size": tower["patch"]}
    config = {"text_config": text, "torch_dtype": text["torch_dtype"],
              "tie_word_embeddings": text["tie_word_embeddings"]}
    if model["arch"].startswith("qwen"):
        if model["arch"] == "qwen3_5":
            name, kind, sections, rope = "Qwen3_5", "qwen3_5", [11, 11, 10], text["rope_parameters"]
        else:
            name, kind, sections, rope = "Qwen3VL", "qwen3_vl", [24, 20, 20], {"rope_type": "default"}
            text["rope_scaling"] = rope
        rope.update({"mrope_interleaved": True, "mrope_section": sections})
        config.update({"architectures": [name + "ForConditionalGeneration"], "model_type": kind,
                       "image_token_id": model["vocab"] - 1})
        own.update({"depth": tower["layers"], "num_heads": tower["heads"],
                    "hidden_act": "gelu_pytorch_tanh", "temporal_patch_size": 2,
                    "spatial_merge_size": 2, "out_hidden_size": model["hidden"],
                    "num_position_embeddings": tower["table"] ** 2,
                    "deepstack_visual_indexes": tapped(tower)})
        processor = {"patch_size": tower["patch"], "temporal_patch_size": 2, "merge_size": 2,
                     "size": {"longest_edge": 16777216, "shortest_edge": 65536}}
    else:
        config.update({"architectures": ["Gemma3ForConditionalGeneration"],
                       "model_type": "gemma3", "mm_tokens_per_image": tower["tokens"],
                       "image_token_index": model["vocab"] - 1})
        own.update({"model_type": "siglip_vision_model", "num_hidden_layers": tower["layers"],
                    "num_attention_heads": tower["heads"], "image_size": tower["image"]})
        processor = {"do_resize": True, "resample": 2,
                     "size": {"height": tower["image"], "width": tower["image"]}}
    processor.update({"image_mean": [0.5] * 3, "image_std": [0.5] * 3})
    return {"config.json": {**config, "vision_config": own},
            "preprocessor_config.json": processor}


# Architectures that are no decoders of text, with what writes their files and their tensors.
FAMILIES = {"whisper": (whisper_files, whisper_tensors),
            "moonshine": (moonshine_files, moonshine_tensors), "bert": (bert_files, bert_tensors),
            "nanocodec": (codec_files, codec_tensors)}
