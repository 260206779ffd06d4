#!/usr/bin/env python3
"""numpy_vision.py FILE...: records what towers of images answer in float64, and chats about images,
for the models of tests/data/families that read some and that transformers cannot be had for.

The passes are written from the papers, the reference implementations and their processors alone, so
that they share nothing with the engine; Pillow resizes. numpy_families.py has the format of weights.
A file has the words of its tokenizer that stand in prompts between rows of images, and chats whose
segments are ids or names of images of tests/data/images.
"""
import json
import math
import pathlib
import sys

import numpy as np
from PIL import Image

import numpy_families as text_passes

STEPS = 16  # tokens after a chat
IMAGES = pathlib.Path(__file__).parent.parent / "tests/data/images"


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def see_all(q, k, v, seen=True):
    """[T, heads, d] thrice -> [T, heads * d]; everything sees everything, or what is `seen`."""
    scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[2])
    shares = softmax(np.where(seen, scores, -np.inf))
    return np.einsum("hij,jhd->ihd", shares, v).reshape(len(q), -1)


def patches_of(image, patch, mean, std):
    """[rows, columns, 3 * patch * patch]"""
    x = (np.asarray(image, np.float64) / 255 - mean) / std
    rows, columns = x.shape[0] // patch, x.shape[1] // patch
    x = x.reshape(rows, patch, columns, patch, 3).transpose(0, 2, 4, 1, 3)
    return x.reshape(rows, columns, -1)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def turned(x, angle):
    """x: [T, heads, d], angle: [T, d / 2]; halves turn together."""
    a, b = np.split(x, 2, -1)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


class Seeing(text_passes.Model):
    """A model whose text is Llama's or Mistral's, with other weights' names."""

    def __init__(self, family):
        super().__init__(family)
        self.whole, self.processor = family["config"], family["processor"]
        if "tokenizer" in family:
            self.vocab = {one["content"]: one["id"] for one in family["tokenizer"]["added_tokens"]}
            self.vocab |= family["tokenizer"]["model"]["vocab"]
        self.c = {"rope_scaling": None, "tie_word_embeddings": False}
        self.c |= self.whole.get("text_config", self.whole)
        self.c |= self.c.get("rope_parameters", {})
        self.v = self.whole["vision_config"]
        self.mean = np.array(self.processor["image_mean"])
        self.std = np.array(self.processor["image_std"])

    def decode(self, at, head, x):
        c = self.c
        for i in range(c["num_hidden_layers"]):
            p = f"{at}layers.{i}."
            q, k, v = self.heads(self.rms(x, p + "input_layernorm"), p + "self_attn.")
            f = text_passes.frequencies({**c, "rope_scaling": None}, q.shape[2])
            y = text_passes.attend(text_passes.rope(q, f), text_passes.rope(k, f), v)
            x = x + self.lin(y, p + "self_attn.o_proj")
            x = x + self.gated(self.rms(x, p + "post_attention_layernorm"), p + "mlp.")
        return self.lin(self.rms(x, at + "norm"), head)

    def forward(self, ids, rows):
        """`rows` take the place of the first image tokens."""
        x = self.w[self.TEXT + "embed_tokens.weight"][ids].copy()
        x[np.flatnonzero(np.array(ids) == self.image_token())[: len(rows)]] = rows
        return self.decode(self.TEXT, self.HEAD, x)


class Idefics3(Seeing):
    TEXT, HEAD = "model.text_model.", "lm_head"

    def image_token(self):
        return self.whole["image_token_id"]

    def squares(self, image):
        """The squares of an image, row by row, and then the whole; and how many of each side."""
        longest, side = self.processor["size"]["longest_edge"], self.v["image_size"]
        ratio = image.width / image.height
        if image.width >= image.height:
            width, height = longest, int(longest / ratio)
            height += height % 2
        else:
            width, height = int(longest * ratio), longest
            width += width % 2
        image = image.resize((width, height), Image.Resampling.LANCZOS)
        ratio = width / height
        up = lambda n: math.ceil(n / side) * side
        width, height = ((up(width), up(int(up(width) / ratio))) if width >= height
                         else (up(int(up(height) * ratio)), up(height)))
        image = image.resize((width, height), Image.Resampling.LANCZOS)
        rows, columns = height // side, width // side
        if rows * columns == 1:
            return [image], 0, 0
        out = [image.crop((c * side, r * side, (c + 1) * side, (r + 1) * side))
               for r in range(rows) for c in range(columns)]
        return out + [image.resize((side, side), Image.Resampling.LANCZOS)], rows, columns

    def tower(self, image):
        v, at = self.v, "model.vision_model."
        x = patches_of(image, v["patch_size"], self.mean, self.std)
        n = len(x)
        weight = self.w[at + "embeddings.patch_embedding.weight"].reshape(v["hidden_size"], -1)
        x = x.reshape(n * n, -1) @ weight.T + self.w[at + "embeddings.patch_embedding.bias"]
        x = x + self.w[at + "embeddings.position_embedding.weight"]
        eps = v["layer_norm_eps"]
        for i in range(v["num_hidden_layers"]):
            p = f"{at}encoder.layers.{i}."
            h = self.ln(x, p + "layer_norm1", eps)
            q, k, w = (self.lin(h, f"{p}self_attn.{one}_proj")
                       .reshape(len(x), v["num_attention_heads"], -1) for one in "qkv")
            x = x + self.lin(see_all(q, k, w), p + "self_attn.out_proj")
            h = text_passes.gelu_new(self.lin(self.ln(x, p + "layer_norm2", eps), p + "mlp.fc1"))
            x = x + self.lin(h, p + "mlp.fc2")
        x = self.ln(x, at + "post_layernorm", eps).reshape(n, n, -1)
        s = self.whole["scale_factor"]
        joined = [np.concatenate([x[r + i, c + j] for i in range(s) for j in range(s)])
                  for r in range(0, n, s) for c in range(0, n, s)]
        return self.lin(np.array(joined), "model.connector.modality_projection.proj")

    def image(self, image):
        """The rows of an image, and its ids in a prompt."""
        squares, rows, columns = self.squares(image)
        made = [self.tower(square) for square in squares]
        v, ids = self.vocab, []
        own = [self.image_token()] * len(made[0])
        around = [v["<fake_token_around_image>"]]
        for row in range(rows):
            for column in range(columns):
                ids += ([v["\n"]] if row and not column else []) + around
                ids += [v[f"<row_{row + 1}_col_{column + 1}>"]] + own
        ids += ([v["\n\n"]] if rows else []) + around + [v["<global-img>"]] + own + around
        return np.concatenate(made), ids


class Llava(Seeing):
    """LLaVA 1.5: modeling_llava.py and modeling_clip.py of transformers."""

    TEXT, HEAD = "language_model.model.", "language_model.lm_head"

    def image_token(self):
        return self.whole["image_token_index"]

    def square(self, image):
        side = self.v["image_size"]
        if self.processor.get("do_pad"):
            whole, colour = max(image.size), tuple(int(x * 255) for x in self.mean)
            square = Image.new("RGB", (whole, whole), colour)
            square.paste(image, ((whole - image.width) // 2, (whole - image.height) // 2))
            return square.resize((side, side), Image.Resampling.BICUBIC)
        shorter = min(image.size)
        image = image.resize((side * image.width // shorter, side * image.height // shorter),
                             Image.Resampling.BICUBIC)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        return image.crop((left, top, left + side, top + side))

    def tower(self, image):
        v, at, eps = self.v, "vision_tower.vision_model.", self.v.get("layer_norm_eps", 1e-5)
        x = patches_of(image, v["patch_size"], self.mean, self.std)
        x = x.reshape(len(x) ** 2, -1)
        weight = self.w[at + "embeddings.patch_embedding.weight"].reshape(v["hidden_size"], -1)
        x = np.concatenate([self.w[at + "embeddings.class_embedding"][None], x @ weight.T])
        x = self.ln(x + self.w[at + "embeddings.position_embedding.weight"], at + "pre_layrnorm", eps)
        for i in range(v["num_hidden_layers"] + 1 + self.whole.get("vision_feature_layer", -2)):
            p = f"{at}encoder.layers.{i}."
            h = self.ln(x, p + "layer_norm1", eps)
            q, k, w = (self.lin(h, f"{p}self_attn.{one}_proj")
                       .reshape(len(x), v["num_attention_heads"], -1) for one in "qkv")
            x = x + self.lin(see_all(q, k, w), p + "self_attn.out_proj")
            h = self.lin(self.ln(x, p + "layer_norm2", eps), p + "mlp.fc1")
            x = x + self.lin(h * text_passes.sigmoid(1.702 * h), p + "mlp.fc2")
        p = "multi_modal_projector.linear_"
        return self.lin(gelu(self.lin(x[1:], p + "1")), p + "2")

    def image(self, image):
        rows = self.tower(self.square(image))
        return rows, [self.image_token()] * len(rows)


class Mistral3(Seeing):
    TEXT, HEAD = "language_model.model.", "language_model.lm_head"

    def image_token(self):
        return self.whole["image_token_index"]

    def tower(self, image):
        v, s, at = self.v, self.whole["spatial_merge_size"], "vision_tower."
        x = patches_of(image, v["patch_size"], self.mean, self.std)
        rows, columns = x.shape[:2]
        weight = self.w[at + "patch_conv.weight"].reshape(v["hidden_size"], -1)
        x = text_passes.rms(x.reshape(rows * columns, -1) @ weight.T, self.w[at + "ln_pre.weight"],
                            1e-5)
        d = v["hidden_size"] // v["num_attention_heads"]
        f = v["rope_theta"] ** (-np.arange(0, d, 2) / d)
        row, column = np.divmod(np.arange(rows * columns), columns)
        angle = np.concatenate([np.outer(row, f[::2]), np.outer(column, f[1::2])], -1)
        for i in range(v["num_hidden_layers"]):
            p = f"{at}transformer.layers.{i}."
            h = text_passes.rms(x, self.w[p + "attention_norm.weight"], 1e-5)
            q, k, w = (self.lin(h, f"{p}attention.{one}_proj").reshape(len(x), -1, d)
                       for one in "qkv")
            x = x + self.lin(see_all(turned(q, angle), turned(k, angle), w), p + "attention.o_proj")
            h = text_passes.rms(x, self.w[p + "ffn_norm.weight"], 1e-5)
            x = x + self.gated(h, p + "feed_forward.")
        at = "multi_modal_projector."
        x = self.rms(x, at + "norm").reshape(rows // s, s, columns // s, s, -1)
        # The reference unfolds images with their channels in front.
        x = x.transpose(0, 2, 4, 1, 3).reshape(rows * columns // s**2, -1)
        x = self.lin(self.lin(x, at + "patch_merger.merging_layer"), at + "linear_1")
        return self.lin(gelu(x), at + "linear_2"), rows // s, columns // s

    def image(self, image):
        """The rows of an image of whole squares, and its ids in a prompt."""
        side = self.v["patch_size"] * self.whole["spatial_merge_size"]
        if image.width % side or image.height % side or max(image.size) > self.v["image_size"]:
            raise SystemExit(f"An image of {image.size} would be resized.")
        made, rows, columns = self.tower(image)
        line = [self.image_token()] * columns
        ids = (line + [self.vocab["[IMG_BREAK]"]]) * rows
        return made, ids[:-1] + [self.vocab["[IMG_END]"]]


class Qwen2VL(Seeing):
    """Images stand in a prompt by their places: `grids` has those of the images that were made."""

    def __init__(self, family):
        super().__init__(family)
        self.has_old_names = "model.embed_tokens.weight" in self.w
        self.text = "model." if self.has_old_names else "model.language_model."
        self.at = "visual." if self.has_old_names else "model.visual."
        self.grids = []

    def image_token(self):
        return self.whole["image_token_id"]

    def places(self, ids):
        """[T, 3]: the time, the row and the column of each token."""
        out, grids = [], iter(self.grids)
        while len(out) < len(ids):
            after = max(map(max, out)) + 1 if out else 0
            if ids[len(out)] == self.image_token():
                rows, columns = next(grids)
                out += [(after, after + r, after + c) for r in range(rows) for c in range(columns)]
            else:
                out.append((after,) * 3)
        return np.array(out)

    def forward(self, ids, rows):
        c = self.c
        x = self.w[self.text + "embed_tokens.weight"][ids].copy()
        x[np.flatnonzero(np.array(ids) == self.image_token())[: len(rows)]] = rows
        heads = c["num_attention_heads"]
        f = text_passes.frequencies({**c, "rope_scaling": None}, c["hidden_size"] // heads)
        axis = np.repeat([0, 1, 2], c["rope_scaling"]["mrope_section"])
        angle = self.places(ids)[:, axis] * f
        for i in range(c["num_hidden_layers"]):
            p = f"{self.text}layers.{i}."
            q, k, v = self.heads(self.rms(x, p + "input_layernorm"), p + "self_attn.")
            y = text_passes.attend(turned(q, angle), turned(k, angle), v)
            x = x + self.lin(y, p + "self_attn.o_proj")
            x = x + self.gated(self.rms(x, p + "post_attention_layernorm"), p + "mlp.")
        tied = self.whole["tie_word_embeddings"]
        return self.lin(self.rms(x, self.text + "norm"),
                        self.text + "embed_tokens" if tied else "lm_head")

    def norm(self, x, name):
        return self.ln(x, name, 1e-6)

    def mlp(self, x, p):
        h = self.lin(x, p + "mlp.fc1")
        return self.lin(h * text_passes.sigmoid(1.702 * h), p + "mlp.fc2")

    def hidden(self):
        return self.v["embed_dim"]

    def seen(self, block, row, column):
        """What each patch sees in that block."""
        return True

    def image(self, image):
        """The rows of an image of whole squares, and its ids in a prompt."""
        v, s, hidden = self.v, self.v["spatial_merge_size"], self.hidden()
        side, pixels = v["patch_size"] * s, image.width * image.height
        least, most = self.processor["min_pixels"], self.processor["max_pixels"]
        if image.width % side or image.height % side or not least <= pixels <= most:
            raise SystemExit(f"An image of {image.size} would be resized.")
        x = patches_of(image, v["patch_size"], self.mean, self.std)
        rows, columns = x.shape[:2]
        # Both frames are the image.
        weight = self.w[self.at + "patch_embed.proj.weight"].sum(2).reshape(hidden, -1)
        x = x.reshape(rows * columns, -1) @ weight.T
        d = hidden // v["num_heads"]
        f = 10000.0 ** (-np.arange(0, d // 2, 2) / (d // 2))
        row, column = np.divmod(np.arange(rows * columns), columns)
        angle = np.concatenate([np.outer(row, f), np.outer(column, f)], -1)
        for i in range(v["depth"]):
            p = f"{self.at}blocks.{i}."
            h = self.lin(self.norm(x, p + "norm1"), p + "attn.qkv")
            q, k, w = (one.reshape(len(x), -1, d) for one in np.split(h, 3, -1))
            y = see_all(turned(q, angle), turned(k, angle), w, self.seen(i, row // s, column // s))
            x = x + self.lin(y, p + "attn.proj")
            x = x + self.mlp(self.norm(x, p + "norm2"), p)
        x = self.norm(x, self.at + "merger.ln_q").reshape(rows // s, s, columns // s, s, -1)
        x = x.transpose(0, 2, 1, 3, 4).reshape(rows * columns // s**2, -1)
        x = self.lin(gelu(self.lin(x, self.at + "merger.mlp.0")), self.at + "merger.mlp.2")
        self.grids.append((rows // s, columns // s))
        return x, [self.image_token()] * len(x)


class Qwen25VL(Qwen2VL):
    def norm(self, x, name):
        return text_passes.rms(x, self.w[name + ".weight"], 1e-6)

    def mlp(self, x, p):
        return self.gated(x, p + "mlp.")

    def hidden(self):
        return self.v["hidden_size"]

    def seen(self, block, row, column):
        v = self.v
        if block in v["fullatt_block_indexes"]:
            return True
        side = v["window_size"] // v["patch_size"] // v["spatial_merge_size"]
        window = row // side * len(row) + column // side
        return window[:, None] == window


MODELS = {"idefics3": Idefics3, "llava": Llava, "mistral3": Mistral3, "qwen2_vl": Qwen2VL, "qwen2_5_vl": Qwen25VL}


def rounded(values):
    return [float(f"{x:.7g}") for x in values]


def chat(model, name, segments):
    prompt, ids, rows, model.grids = [], [], [], []
    for one in segments:
        if not isinstance(one, str):
            prompt += one
            ids += one
            continue
        made, own = model.image(Image.open(IMAGES / one).convert("RGB"))
        prompt.append(model.image_token())
        ids += own
        rows.append(made)
    rows, greedy, clear = np.concatenate(rows), [], np.inf
    first = model.forward(ids, rows)[-1]
    for _ in range(STEPS):
        row = model.forward(ids + greedy, rows)[-1]
        order = row.argsort()
        clear = min(clear, row[order[-1]] - row[order[-2]])
        greedy.append(int(order[-1]))
    print(f"{name}: {len(ids)} tokens, margin {clear:.3f}, deviation {first.std():.2f}")
    asked = {"name": name, "segments": segments, "prompt": prompt, "ids": ids,
             "logits_last": rounded(first), "greedy": {"ids": greedy}}
    if isinstance(model, Qwen2VL):
        asked["rope_delta"] = int(model.places(ids).max()) + 1 - len(ids)
    return asked


def main(files):
    for file in map(pathlib.Path, files):
        family = json.loads(file.read_text())
        print(file.stem)
        model = MODELS[family["config"]["model_type"]](family)
        none = np.zeros((0, model.c["hidden_size"]))
        family["prompts"] = [
            text_passes.record(lambda ids: model.forward(ids, none), model.image_token(), name,
                               *sizes)
            for name, sizes in text_passes.LENGTHS.items()]
        family["tower"] = []
        for name in dict.fromkeys(one for own in family["chats"] for one in own["segments"]
                                  if isinstance(one, str)):
            rows, _ = model.image(Image.open(IMAGES / name).convert("RGB"))
            print(f"{name}: {len(rows)} rows, deviation {rows.std():.2f}")
            family["tower"].append({"file": name, "rows": rounded(rows.flatten())})
        family["chats"] = [chat(model, one["name"], one["segments"]) for one in family["chats"]]
        file.write_text(text_passes.text(family) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
