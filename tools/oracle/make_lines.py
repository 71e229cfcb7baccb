#!/usr/bin/env python3
"""Writes the lines that every tokenizer is compared on: tests/golden/tokens/lines.txt (valid UTF-8) and invalid.txt.

One line of the file is one text; the text's own newlines and odd bytes are escaped (README.md beside the files). Everything is
written here or drawn from a fixed seed, so the same Python writes the same bytes. It refuses to know any tokenizer.
"""
import argparse
import pathlib
import random

SEED = 20240317

PROSE = """
The river had been rising since noon, and by evening the lower field was under water.
"You can't mean that," she said; "it's the third time he'd asked, and they've all refused."
He didn't answer. We'll see, I'm sure, what the morning brings—if it brings anything at all.
In 1848 the town counted 1,204 souls, 87 horses and 3.5 miles of road.
A tensor is a rectangular array of numbers together with the promise that nobody will ask where it lives.
Don't panic: the answer is 42, or 0x2A, or forty-two, or XLII.
THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG; the quick brown fox jumps over the lazy dog.
Dr. Smith's e-mail (smith@example.org) bounced at 3:07 a.m. on 29 February 2000.
Whose book is this? It's theirs. Who's there? They're here. We'd better go; I've got to run, y'all'd've known.
IT'S, THEY'RE, WE'VE, I'M, SHE'LL, HE'D, O'CLOCK, rock'n'roll, 'tis, ’tis, it’s, they’re, I’m.
To-morrow, and to-morrow, and to-morrow, creeps in this petty pace from day to day.
Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty.
In the beginning God created the heaven and the earth. And the earth was without form, and void.
It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.
Call me Ishmael. Some years ago—never mind how long precisely—having little or no money in my purse.
All happy families are alike; every unhappy family is unhappy in its own way.
supercalifragilisticexpialidocious antidisestablishmentarianism floccinaucinihilipilification
See section 4.4 (page 12, line 7): "acc = fma(a, b, acc)", and so on, ..., until k = 1024.
Prices: $3.99, £12, €1.234,56, ¥500, ₹99, ₿0.001, 50¢ and 20% off!!! Really?! Yes...
Visit https://example.org/a/b?c=d&e=f#g or http://127.0.0.1:8080/~user/index.html for more.
""".strip("\n").split("\n")

CODE = r'''
#include <cstdint>
int main(int argc, char** argv) { return argc > 1 ? 0 : 1; }
    for (std::int64_t i = 0; i < rows; ++i) out[i] = fma(a[i], b[i], out[i]);
template <class T, int N = 32> struct Lanes { alignas(64) T lane[N]; };
	if (x != nullptr && x->next == y) { *p++ = ~mask ^ (1u << 31); }
auto f = [&](auto&&... xs) -> decltype(auto) { return (xs + ...); };
static_assert(sizeof(void*) == 8, "64-bit only");  // or nothing works
def tree(values: list[float]) -> float:
    """A docstring; with 'quotes' and "more"."""
        return sum(v ** 2 for v in values if v is not None) // 1
    print(f"{name!r:>10} = {value:.3e}", end="\n", file=sys.stderr)
@dataclass(frozen=True)
class Block(nn.Module):
lambda x: x[::-1] @ w.T + b[None, :, ...]
fn main() -> Result<(), Box<dyn Error>> { let x: &'static str = "a"; println!("{x:?}"); Ok(()) }
impl<'a, T: Copy + 'a> Iterator for Walk<'a, T> { type Item = &'a T; }
const xs = await Promise.all([...Array(10).keys()].map(async (i) => i ** 2));
<div class="row" id='x1'><a href="/?q=1&amp;r=2">link</a><!-- comment --></div>
{"name": "votive", "version": "0.1.0", "files": ["a.gguf", null, true, -1.5e-3]}
SELECT COUNT(*) AS n FROM tokens WHERE id >= 100 AND text LIKE '%\_%' ORDER BY n DESC LIMIT 10;
$ grep -rn "TODO" --include='*.cpp' . | awk -F: '{print $1}' | sort | uniq -c
export PATH="$HOME/.local/bin:${PATH}"; [[ -f x ]] && rm -rf -- "$x" || exit 1
\documentclass{article}\begin{document}$\sum_{i=0}^{n-1} x_i^2 \le \frac{1}{2}$\end{document}
movaps xmm0, [rdi+16*rax] ; vfmadd231ps %zmm0, %zmm1, %zmm2
^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z]+)*)@\w+\.\w{2,}$
0xDEADBEEF 0b1010 0o755 1e-10 6.02214076e23 1_000_000 -0.0 +inf NaN 12345678901234567890
git commit -m "Sum bf16 rows in f32 lanes" && git push origin HEAD:main
/* multi */ // line # hash -- dash ; semi % percent <!-- html --> {# jinja #}
x=1;y=2;z=x+y;x+=y--;++z;a<<=2;b>>>=3;c??=d;e?.f;g=>h;i<=>j;k:=l;m!==n;
| a | b |
|---|--:|
'''.strip("\n").split("\n")

EUROPE = """
Übermäßige Größe: Äpfel, Öl, Straße, STRASSE, Grüße aus München, „Guten Tag“, sagte er.
Où est passé le garçon naïf à l'œil bleu ? C'était l'été, à Noël, aujourd'hui, çà et là.
¿Dónde está el niño? ¡Mañana será otro día! El pingüino bebió 2½ litros de agua.
Zażółć gęślą jaźń. Stół z powyłamywanymi nogami. Łódź, Kraków, Gdańsk.
Příliš žluťoučký kůň úpěl ďábelské ódy. Řeřicha, šťáva, Žižkov.
Árvíztűrő tükörfúrógép. Jó napot kívánok! Gyűjtemény, őszibarack.
Åse spiser blåbærsyltetøy på Ærø. Smørrebrød og rødgrød med fløde.
Sævör grét áðan því úlpan var ónýt. Þórður, ég heiti Ðýrfinna.
Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul, ığdır, Iğdır, İzmir.
Ó avô e a avó não são irmãos; põe as maçãs no pão. Coração, ação, às três.
Quel vituperabile xenofobo zelante assaggia il whisky ed esclama: alleluja! Perché? È così.
Põdur Zagrebi tšellomängija-följetonist Ciqo külmetas kehvas garaažis.
Gheorghe, obezul, a reuşit să obţină jucându-se un flux în Quebec de o mie kilowaţioră. Școală, țară.
Tiếng Việt có sáu thanh điệu: ngang, huyền, sắc, hỏi, ngã, nặng. Được rồi, cảm ơn bạn rất nhiều!
Eble ĉiu kvazaŭ-deca fuŝĥoraĵo ĝojigos homtipon.
Vājprātīgā ūdenszīle, ķērpis, ļaudis, ņemt. Ąžuolas, ėjo, įkišti, šūvis, žąsis.
""".strip("\n").split("\n")

SCRIPTS = """
Съешь же ещё этих мягких французских булок, да выпей чаю. Ёлка, объезд.
Жебракують філософи при ґанку церкви в Гадячі, ще й шатро їхнє п'яне знаємо.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Ὦ ξεῖν’, ἀγγέλλειν Λακεδαιμονίοις ὅτι τῇδε κείμεθα.
נוצר לפני שנים רבות, שָׁלוֹם עֲלֵיכֶם, דג סקרן שט בים מאוכזב.
نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق. السَّلامُ عَلَيْكُم ١٢٣٤٥
صفحهٔ نخست می‌خواهم بنویسم که نرم‌افزار خوب است. ۱۲۳۴۵۶۷۸۹۰
ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले। क्षत्रिय, ज्ञान, १२३४
আমার সোনার বাংলা, আমি তোমায় ভালোবাসি। ১২৩৪৫
ஒரு மொழியில் எழுதப்பட்ட உரை மற்றொரு மொழியில். யாதும் ஊரே யாவரும் கேளிர்.
నేను తెలుగులో రాస్తున్నాను. ಕನ್ನಡದಲ್ಲಿ ಬರೆಯಿರಿ. മലയാളത്തിൽ എഴുതുക.
เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ๑๒๓๔๕
ຂອບໃຈຫຼາຍໆ ສະບາຍດີ. សូមអរគុណ ជំរាបសួរ។ မင်္ဂလာပါ ကျေးဇူးတင်ပါတယ်။
ვეფხისტყაოსანი, გამარჯობა თბილისო. Բարեւ ձեզ, Հայաստան։ ሰላም ለዓለም፡ ኢትዮጵያ።
བོད་སྐད་ཡིན། བཀྲ་ཤིས་བདེ་ལེགས། ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ ꏤꆈꌠꉙ ꏤ ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᐃᓄᒃᑎᑐᑦ
敏捷的棕色狐狸跳过了懒狗。天地玄黄,宇宙洪荒。日月盈昃,辰宿列张!
今天天氣很好,我們去公園散步吧?價錢是1,234元(約合US$39.5)。
学而时习之,不亦说乎?有朋自远方来,不亦乐乎?
いろはにほへと ちりぬるを。わかよたれそ つねならむ。色は匂へど散りぬるを
カタカナとひらがなと漢字、ハンカクカナ、全角ABC123!?「引用」『二重』〜ー・※
吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。
다람쥐 헌 쳇바퀴에 타고파. 안녕하세요? 키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.
훈민정음 ㄱㄴㄷㄹ ㅏㅑㅓㅕ 나랏말ᄊᆞ미 中國에 달아
𠀀𠀁𠮷野家 𪚥 𫝆 㐀㒵 龘 齉 〇 〆 々 ヶ ヵ
𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒽𝑒𝓁𝓁𝑜 𝟘𝟙𝟚 ①②③ ⅣⅫ ½⅓¾ x²+y³=z⁴ H₂O ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ∑∏∫√∞≈≠≤≥
""".strip("\n").split("\n")

EMOJI = ["😀", "😂", "🥲", "🤖", "👍", "👍🏽", "👩‍💻", "👨🏿‍🚀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🏴‍☠️", "🇩🇪", "🇯🇵", "🇺🇸", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️", "❤", "❤️‍🔥", "☀️", "1️⃣",
         "#️⃣", "*️⃣", "🧑‍🤝‍🧑", "👁️‍🗨️", "🐻‍❄️", "✈️", "™️", "©", "®️", "♾️", "⚧️", "🫠", "🪿", "🫨", "🫩", "⌚", "⏩", "▶️", "🅰️", "🈁", "㊙️", "🀄", "🃏", "🎅🏻", "💩"]

COMBINING = ["e\u0301", "a\u0308\u0304", "o\u0302\u0301", "n\u0303", "Z\u0351\u036b\u0343a\u0335\u0321l\u0334\u0322g\u0337\u0327o\u0338", "\u0301", " \u0301",
             "\u0915\u094d\u0937\u093f", "\u0e01\u0e33\u0e49", "\u1100\u1161\u11a8", "\u1112\u1161\u11ab\u1100\u1173\u11af", "A\u030a", "\u212b", "\u00c5",
             "s\u0323\u0307", "s\u0307\u0323", "\u1e69", "\u05e9\u05c1\u05b8", "\u0644\u064e\u0651", "\u20dd", "a\u20dd", "\u0ddd", "\u2126", "\ufb01", "\uff21", "\u3099",
             "\u304b\u3099", "\u0344", "\u0958", "\uf900", "\U0002f800", "\u1e9b\u0323", "i\u0307", "\u0131\u0307", "q\u0307\u0323", "\u0f71\u0f72", "\u0b47\u0b56"]

SPACES = [" ", "  ", "   ", "\t", "\t\t", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", " \n", "\n ", "\t ", " \t", "\u00a0", "\u1680", "\u2000", "\u2003", "\u2007", "\u2009",
          "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u0085", "\u000b", "\u000c", "\u180e", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u001c",
          "\u001d", "\u001e", "\u001f", "    ", "        ", "\n\t", "\n    "]

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<reponame>", "<file_sep>", "<filename>", "<gh_stars>", "<issue_start>", "<issue_comment>",
           "<issue_closed>", "<jupyter_start>", "<jupyter_text>", "<jupyter_code>", "<jupyter_output>", "<jupyter_script>", "<empty_output>", "<|begin_of_text|>",
           "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|reserved_special_token_0|>", "<s>", "</s>", "<unk>", "<0x0A>", "<0xFF>", "<think>",
           "</think>", "<tool_call>", "<|fim_prefix|>", "<|vision_start|>"]

NUMBERS = ["0", "7", "10", "42", "100", "999", "1000", "1234", "12345", "123456", "1234567", "3.14159", "1,000,000", "-17", "+3", "1e9", "2.5E-7", "0x1F", "1/2", "50%", "#1",
           "1st", "2nd", "10th", "v1.2.3-rc4", "2024-03-17T12:34:56Z", "192.168.0.1", "(555) 123-4567", "٣٤٥", "०१२", "12", "²³", "½", "Ⅷ", "①", "〇一二三", "𝟗𝟖", "෧", "൧൰",
           "፩፪", "𐄇", "🄁", "⁰", "₉", "㉈", "1\u202f000", "1\u00a0000", "a1b2c3", "abc123def456", "x86_64", "H2O", "10km", "5€", "No.5"]


def lines(rng):
    yield ""
    yield from PROSE + CODE + EUROPE + SCRIPTS
    prose, code, world = " ".join(PROSE).split(" "), " ".join(CODE).split(" "), " ".join(EUROPE + SCRIPTS).split(" ")
    for c in map(chr, range(256)):
        yield c if ord(c) < 128 else f"a{c}b {c}"

    def some(words, low, high, joint=" "):
        return joint.join(rng.choices(words, k=rng.randint(low, high)))

    def run(low, high):
        return "".join(rng.choices(SPACES, k=rng.randint(low, high)))

    for _ in range(170):
        start = rng.randrange(len(prose) - 14)
        yield " ".join(prose[start : start + rng.randint(3, 14)])
    for _ in range(150):
        yield rng.choice([" ", "  ", "    ", "\t", "        ", ""]) + some(code, 1, 8)
    for _ in range(60):
        yield rng.choice(["\n", "\r\n", "\n\n"]).join(rng.choice(["", "  ", "    ", "\t"]) + c for c in rng.choices(CODE, k=rng.randint(2, 3)))
    for _ in range(170):
        yield some(world, 2, 8)
    for _ in range(60):
        yield some(world + prose + code, 3, 8, joint="")
    for e in EMOJI:
        yield e
    for _ in range(110):
        yield "".join(rng.choice([rng.choice(EMOJI), rng.choice(EMOJI), " ", rng.choice(prose), rng.choice(world)]) for _ in range(rng.randint(2, 8)))
    for c in COMBINING:
        yield "x" + c + " y"
    for _ in range(110):
        yield "".join(rng.choice([rng.choice(COMBINING), rng.choice(COMBINING), " ", rng.choice("aeiouAEIOUnc")]) for _ in range(rng.randint(2, 9)))
    for s in SPACES:
        yield s
        yield "a" + s + "b"
        yield s + "1" + s + "." + s
    for _ in range(150):
        yield "".join(rng.choice([run(1, 4), rng.choice(prose), rng.choice(code), rng.choice(NUMBERS), rng.choice("!?.,;:'\"")]) for _ in range(rng.randint(2, 7)))
    for n in range(1, 80, 3):
        yield " " * n + "x" + " " * n
        yield "\n" * n + "\t" * (n % 9)
    for n in NUMBERS:
        yield n
        yield "a" + n + " " + n + n
    for _ in range(90):
        yield "".join(rng.choice([rng.choice(NUMBERS), " ", ".", ",", rng.choice(prose), str(rng.randrange(10 ** rng.randint(1, 18)))]) for _ in range(rng.randint(2, 7)))
    for suffix in ["s", "t", "re", "ve", "m", "ll", "d", "S", "T", "RE", "Ve", "M", "lL", "D", "\u017f", "x", "sx", "'s", " s", "1", "re'll"]:
        for apostrophe in ["'", "\u2019", " '", "''"]:
            yield rng.choice(["he", "IT", "x1", "é", "日", "!"]) + apostrophe + suffix + rng.choice(["", " ok", "y"])
    for s in SPECIAL:
        yield s
    for _ in range(70):
        yield "".join(rng.choice([rng.choice(SPECIAL), rng.choice(SPECIAL), rng.choice(prose), " ", "\n", rng.choice(world)]) for _ in range(rng.randint(2, 7)))
    yield from ["<|im_start|>user\nHello, who are you?<|im_end|>\n<|im_start|>assistant\n", "<|im_start", "im_end|>", "<|im_start|", "<<|im_end|>>", "< |im_end|>", "<|IM_END|>", "<s >"]
    for _ in range(90):
        yield "".join(rng.choices("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ¡¿§¶†‡•…‰′″‹›«»“”‘’–—―‖", k=rng.randint(1, 24)))
    for _ in range(90):
        yield "".join(rng.choices("aAbZé ßλ日本語🙂.,'1290 \t\n\u2029\ua3e4\u00a0", k=rng.randint(1, 24)))
    # Random code points: of the blocks in use, of the whole range (most unassigned), and of the first 0x3000.
    for top in (0x250, 0x3000, 0x10000, 0x20000, 0x110000):
        for _ in range(60):
            points = [rng.randrange(1, top) for _ in range(rng.randint(1, 10))]
            yield "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000) or "?"
    yield from ["a" * 300, "ab" * 150, " a" * 120, "aA1 " * 80, "日" * 100, "👩‍💻" * 20, "-" * 200, "0" * 100, "e\u0301" * 60, "\u2029\u2029", "\ua3e4", "x\ua3e4y \ua3e4",
                "the " * 60, "\u0000", "a\u0000b", "\u0000\u0000\u0000", "\ufffd", "\ufffe\uffff", "\U0010ffff", "\ue000\uf8ff"]


BROKEN = [b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc2", b"\xc3(", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xe4\xb8", b"\xe4", b"\xed\xa0\x80", b"\xed\xbf\xbf",
          b"\xed\xa0\xbd\xed\xb8\x80", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xf0", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80",
          b"\xfc\x84\x80\x80\x80\x80", b"\xfe", b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb", b"\x80\x80\x80\x80", b"\xe2\x82(", b"\xe2(\xa1", b"\xf0(\x8c\xbc", b"\xf0\x90(\xbc"]


def invalid_lines(rng):
    for b in BROKEN:
        yield b
        yield b"a" + b + b"b " + b + b" c"
    words = [w.encode() for w in " ".join(PROSE + SCRIPTS).split(" ")]
    for _ in range(76):
        yield b"".join(rng.choice([rng.choice(BROKEN), b" ", rng.choice(words)]) for _ in range(rng.randint(2, 7))) + rng.choice(BROKEN)
    for _ in range(60):
        whole = b" ".join(rng.choices(words, k=rng.randint(2, 5)))
        cut = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            cut[rng.randrange(len(cut))] = rng.choice([0x80, 0xBF, 0xC3, 0xE4, 0xF0, 0xFF])
        yield bytes(cut)
    for _ in range(40):
        yield bytes(rng.randrange(256) for _ in range(rng.randint(1, 20)))


SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}


def escaped(raw):
    """Printable characters as they are, everything else as \\n \\t \\r \\\\ or \\xHH of its bytes; of invalid text only ASCII stays."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None:
        return "".join(SHORT.get(chr(b), chr(b) if 32 <= b < 127 else f"\\x{b:02x}") for b in raw)
    return "".join(SHORT.get(c, c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode())) for c in text)


def unescaped(line):
    """The bytes of one line of the file (without its newline)."""
    out, i, raw = bytearray(), 0, line.encode() if isinstance(line, str) else line
    while i < len(raw):
        if raw[i] != 0x5C:
            out.append(raw[i])
            i += 1
        elif raw[i + 1] == 0x78:
            out.append(int(raw[i + 2 : i + 4], 16))
            i += 4
        else:
            out.append({0x6E: 10, 0x74: 9, 0x72: 13, 0x5C: 0x5C}[raw[i + 1]])
            i += 2
    return bytes(out)


def read_lines(path):
    return [unescaped(line) for line in pathlib.Path(path).read_bytes().split(b"\n")[:-1]]


def unique(items):
    return list(dict.fromkeys(items))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokens")
    out = parser.parse_args().out
    valid = unique(line.encode() for line in lines(random.Random(SEED)))
    broken = []
    for raw in unique(invalid_lines(random.Random(SEED + 1))):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            broken.append(raw)
    for name, group in (("lines.txt", valid), ("invalid.txt", broken)):
        written = "".join(escaped(raw) + "\n" for raw in group).encode()
        assert [unescaped(line) for line in written.split(b"\n")[:-1]] == group
        (out / name).write_bytes(written)
        print(f"{name}: {len(group)} lines, {sum(map(len, group))} bytes of text, file {len(written)} bytes")


if __name__ == "__main__":
    main()
