"""Vocabularies between two forms: GGUF metadata and Hugging Face's tokenizer.json. Both directions keep ids, merges and kinds as they are.

It refuses to hold a vocabulary: everything comes from a file that stays in the cache.
    python3 vocabulary.py to-json MODEL.gguf OUT.json        the vocabulary of a model, for `tokenizers`
    python3 vocabulary.py to-gguf TOKENIZER.json OUT.gguf    a GGUF without tensors, for llama.cpp and Votive
"""
import json
import struct
import sys

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

# Patterns as the models' authors published them, by the name that GGUF gives them.
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPLITS = {
    "llama-bpe": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


# ---- reading and writing GGUF, version 3, little endian -------------------------------------------------------------------------------

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
CODES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}


class Reader:
    """Metadata, tensor list and data offset of a GGUF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.raw = file.read()
        self.at = 4
        version, tensors, keys = self.take("<IQQ")
        if self.raw[:4] != b"GGUF" or version not in (2, 3):
            raise SystemExit(f"{path}: not a GGUF file of version 2 or 3")
        self.metadata = {}
        for _ in range(keys):
            key = self.string().decode()
            self.metadata[key] = self.value(self.take("<I")[0])
        self.tensors = {}
        for _ in range(tensors):
            name = self.string().decode()
            dims = self.take(f"<{self.take('<I')[0]}Q")
            self.tensors[name] = (dims, *self.take("<IQ"))
        alignment = self.metadata.get("general.alignment", 32)
        self.data = (self.at + alignment - 1) // alignment * alignment

    def take(self, layout):
        out = struct.unpack_from(layout, self.raw, self.at)
        self.at += struct.calcsize(layout)
        return out

    def string(self):
        size = self.take("<Q")[0]
        self.at += size
        return self.raw[self.at - size : self.at]

    def value(self, kind):
        if kind == STRING:
            return self.string().decode("utf-8", "surrogateescape")
        if kind != ARRAY:
            return self.take("<" + CODES[kind])[0]
        inner, count = self.take("<IQ")
        return [self.string().decode("utf-8", "surrogateescape") for _ in range(count)] if inner == STRING else list(self.take(f"<{count}{CODES[inner]}"))


def string_bytes(text):
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def write_gguf(path, entries):
    """A GGUF file with metadata only; entries are (key, type, value) and lists are (key, (ARRAY, type), values)."""
    out = [b"GGUF", struct.pack("<IQQ", 3, 0, len(entries))]
    for key, kind, value in entries:
        out.append(string_bytes(key))
        if isinstance(kind, tuple):
            inner = kind[1]
            out.append(struct.pack("<IIQ", ARRAY, inner, len(value)))
            out.append(b"".join(map(string_bytes, value)) if inner == STRING else struct.pack(f"<{len(value)}{CODES[inner]}", *value))
        else:
            out.append(struct.pack("<I", kind) + (string_bytes(value) if kind == STRING else struct.pack("<" + CODES[kind], value)))
    raw = b"".join(out)
    with open(path, "wb") as file:
        file.write(raw + b"\0" * (-len(raw) % 32))


# ---- the two directions ---------------------------------------------------------------------------------------------------------------


def pre_tokenizer(name):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    if name == "gpt-2":
        return byte_level
    if name == "smollm":
        return {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level]}
    split = {"type": "Split", "pattern": {"Regex": SPLITS[name]}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, {**byte_level, "use_regex": False}]}


def bpe_model(**changes):
    fixed = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    return {**fixed, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, **changes}


def byte_level(m, vocabulary):
    model = bpe_model(ignore_merges=m["tokenizer.ggml.pre"] == "llama-bpe", vocab=vocabulary, merges=m["tokenizer.ggml.merges"])
    decoder = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return {"normalizer": None, "pre_tokenizer": pre_tokenizer(m["tokenizer.ggml.pre"]), "decoder": decoder, "model": model}


def sentencepiece(m, vocabulary):
    """The merges that the scores imply, made the way `transformers` makes them: by score, then by the ids of the two parts."""
    scores, merges = m["tokenizer.ggml.scores"], []
    for piece, i in vocabulary.items():
        cuts = [(piece[:n], piece[n:]) for n in range(1, len(piece)) if piece[:n] in vocabulary and piece[n:] in vocabulary]
        merges += [(left, right, scores[i]) for left, right in sorted(cuts, key=lambda c: (vocabulary[c[0]], vocabulary[c[1]]))]
    merges = [list(m[:2]) for m in sorted(merges, key=lambda m: m[2], reverse=True)]
    unknown = m["tokenizer.ggml.tokens"][m["tokenizer.ggml.unknown_token_id"]]
    space = [{"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]
    model = bpe_model(unk_token=unknown, fuse_unk=True, byte_fallback=True, vocab=vocabulary, merges=merges)
    return {"normalizer": {"type": "Sequence", "normalizers": space}, "pre_tokenizer": None, "decoder": None, "model": model}


def to_json(gguf_path, json_path):
    m = Reader(gguf_path).metadata
    tokens, kinds = m["tokenizer.ggml.tokens"], m["tokenizer.ggml.token_type"]
    form = byte_level if m["tokenizer.ggml.model"] == "gpt2" else sentencepiece
    special = (CONTROL, UNKNOWN)
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [{"id": i, "content": t, **flags, "special": k in special} for i, (t, k) in enumerate(zip(tokens, kinds)) if k in (*special, USER_DEFINED)]
    parts = form(m, {t: i for i, t in enumerate(tokens)})
    with open(json_path, "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts, "post_processor": None}, file, ensure_ascii=False)


def split_name(pre):
    pattern = next((p["pattern"]["Regex"] for p in (pre or {}).get("pretokenizers", []) if p["type"] == "Split"), None)
    for name, known in SPLITS.items():
        if pattern == known:
            return name
    raise SystemExit(f"no GGUF name is known for the pattern {pattern!r}")


def sentencepiece_scores(tokens, kinds):
    """As in the tokenizer.model of Llama 2 and Mistral: piece n after the byte tokens has score −n, runs of spaces come last."""
    first = max(i for i, k in enumerate(kinds) if k == BYTE) + 1
    return [-1e9 if len(t) > 1 and set(t) == {"\u2581"} else float(min(0, first - i)) for i, t in enumerate(tokens)]


def to_gguf(json_path, gguf_path):
    """Llama 3 and Qwen (byte-level BPE) and Llama 2 (SentencePiece: scores and byte tokens)."""
    with open(json_path, encoding="utf-8") as file:
        whole = json.load(file)
    try:
        with open(json_path.replace("tokenizer.json", "tokenizer_config.json"), encoding="utf-8") as file:
            config = json.load(file)
    except FileNotFoundError:
        config = {}
    model, added = whole["model"], {t["id"]: t for t in whole["added_tokens"]}
    ids = {i: t for t, i in model["vocab"].items()} | {i: t["content"] for i, t in added.items()}
    tokens = [ids.get(i, f"[PAD{i}]") for i in range(max(ids) + 1)]
    scored = model.get("byte_fallback", False)

    def kind(i):
        if i in added:
            return UNKNOWN if tokens[i] == model.get("unk_token") else CONTROL if added[i]["special"] else USER_DEFINED
        if scored and len(tokens[i]) == 6 and tokens[i].startswith("<0x"):
            return BYTE
        return NORMAL if i in ids else UNUSED

    kinds = [kind(i) for i in range(len(tokens))]
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]

    def id_of(name):
        token = config.get(name)
        content = token["content"] if isinstance(token, dict) else token
        return next((i for i, t in added.items() if t["content"] == content), None)

    architecture = [("general.architecture", STRING, "llama"), ("general.name", STRING, "vocabulary only")]
    sizes = [("context_length", 8192), ("embedding_length", 64), ("block_count", 1), ("feed_forward_length", 64), ("rope.dimension_count", 64), ("attention.head_count", 1)]
    entries = architecture + [("llama." + key, U32, value) for key, value in sizes]
    entries += [("llama.attention.layer_norm_rms_epsilon", F32, 1e-5), ("llama.vocab_size", U32, len(tokens))]
    entries += [("tokenizer.ggml.model", STRING, "llama" if scored else "gpt2")]
    entries += [("tokenizer.ggml.pre", STRING, "default" if scored else split_name(whole["pre_tokenizer"]))]
    entries += [("tokenizer.ggml.tokens", (ARRAY, STRING), tokens)]
    if scored:
        entries += [("tokenizer.ggml.scores", (ARRAY, F32), sentencepiece_scores(tokens, kinds))]
    entries += [("tokenizer.ggml.token_type", (ARRAY, I32), kinds)]
    if not scored:
        entries += [("tokenizer.ggml.merges", (ARRAY, STRING), merges)]
    for key, name in (("bos", "bos_token"), ("eos", "eos_token"), ("unknown", "unk_token"), ("padding", "pad_token")):
        if id_of(name) is not None:
            entries += [(f"tokenizer.ggml.{key}_token_id", U32, id_of(name))]
    entries += [("tokenizer.ggml.add_bos_token", BOOL, config.get("add_bos_token", id_of("bos_token") is not None))]
    entries += [("tokenizer.ggml.add_space_prefix", BOOL, scored)]
    write_gguf(gguf_path, entries)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("to-json", "to-gguf"):
        raise SystemExit(__doc__)
    (to_json if sys.argv[1] == "to-json" else to_gguf)(sys.argv[2], sys.argv[3])
