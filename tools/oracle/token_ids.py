#!/usr/bin/env python3
"""Token ids of the golden lines by llama.cpp and by Hugging Face `tokenizers`, for every vocabulary named below.

Writes tests/golden/tokens/*: the ids of SmolLM2, and for the others, whose vocabularies we may not carry, one checksum per line.
All ids in full go to the cache. README.md beside the files says how to read them.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import zlib

import tokenizers

import make_lines
import vocabulary

# name → where the vocabulary comes from, relative to the cache
SOURCES = {
    "smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "llama3": "npm/llama3/package/models/tokenizer.json",
    "qwen3": "npm/qwen3/package/models/tokenizer.json",
    "mistral": "npm/llama2/package/models/tokenizer.json",
    "llama2": "llama.cpp/models/ggml-vocab-llama-spm.gguf",
    "gpt2": "llama.cpp/models/ggml-vocab-gpt-2.gguf",
}


def by_llama_cpp(probe, gguf, lines_path, mode):
    out = subprocess.run([probe, "tokens", gguf, lines_path, mode], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split() for line in out.split("\n")[:-1]]


def by_tokenizers(json_path, lines, mode):
    tokenizer = tokenizers.Tokenizer.from_file(str(json_path))
    tokenizer.encode_special_tokens = mode == "plain"
    return [list(map(str, tokenizer.encode(raw.decode("utf-8", "replace"), add_special_tokens=False).ids)) for raw in lines]


def text_of(ids):
    return "".join(" ".join(line) + "\n" for line in ids)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--golden", type=pathlib.Path, default=root / "tests/golden/tokens")
    args = parser.parse_args()
    cache, golden = args.cache.resolve(), args.golden
    versions = {"tokenizers": tokenizers.__version__, "llama.cpp": (cache / "llama.cpp-version").read_text().strip()}
    summary = {"script": "tools/oracle/token_ids.py", "versions": versions, "vocabularies": {}}
    for name, source in SOURCES.items():
        source = cache / source
        is_json = source.suffix == ".json"
        gguf = cache / f"vocab-{name}.gguf" if is_json else source
        as_json = source if is_json else cache / f"vocab-{name}.json"
        (vocabulary.to_gguf if is_json else vocabulary.to_json)(str(source), str(gguf if is_json else as_json))
        entry = summary["vocabularies"][name] = {"source": str(source.relative_to(cache)), "source_sha256": hashlib.sha256(source.read_bytes()).hexdigest()}
        for group, mode in (("lines", "special"), ("lines", "plain"), ("invalid", "special")):
            path = golden / f"{group}.txt"
            lines = make_lines.read_lines(path)
            ids = {"llama.cpp": by_llama_cpp(cache / "llama_probe", gguf, path, mode), "tokenizers": by_tokenizers(as_json, lines, mode)}
            for who, rows in ids.items():
                (cache / f"ids-{name}-{group}-{mode}.{who}.txt").write_text(text_of(rows))
            differ = sum(a != b for a, b in zip(*ids.values()))
            sums = {f"sha256_{who}": hashlib.sha256(text_of(rows).encode()).hexdigest() for who, rows in ids.items()}
            entry[f"{group} {mode}"] = {"lines": len(lines), "tokens": sum(map(len, ids["tokenizers"])), "lines_that_differ": differ, **sums}
            print(name, group, mode, entry[f"{group} {mode}"])
            (golden / name).mkdir(exist_ok=True)
            write_golden(golden / name, f"{group}.{mode}", ids["tokenizers"], ids["llama.cpp"], full=name == "smollm2")
    (golden / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


def write_golden(folder, name, ours, theirs, full):
    """Full ids as text, or per line the CRC-32 of that text; after " | " those of llama.cpp where they differ; "=" where plain repeats special."""
    def written(line):
        text = " ".join(line)
        return text if full else f"{zlib.crc32(text.encode()):08x}"

    rows = [written(a) + ("" if a == b else " | " + written(b)) for a, b in zip(ours, theirs)]
    suffix = "ids" if full else "crc32"
    if name.endswith(".plain"):
        special = (folder / f"{name.removesuffix('.plain')}.special.{suffix}").read_text().split("\n")
        rows = ["=" if row == other and row else row for row, other in zip(rows, special)]
    (folder / f"{name}.{suffix}").write_text("".join(row + "\n" for row in rows))


if __name__ == "__main__":
    main()
