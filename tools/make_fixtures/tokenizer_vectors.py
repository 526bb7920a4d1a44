"""Small trained tokenizers of every kind, as tokenizer.json, with the reference's ids for plain and hostile texts.

test/fixtures/tokenizer/models.json holds {texts, models: {name: {tokenizer, ids, decoded}}}: for each text the ids without those
of the post-processor, and their decoding without control tokens. With a folder of published tokenizers (NAME/tokenizer.json)
published.json holds their ids of the same texts. Training is not fully repeatable: vocabularies differ slightly between runs.
"""
import base64
import io
import json
import struct
import sys
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LINES = [
    "The quick brown fox jumps over the lazy dog; the dog doesn't mind.",
    "They're there, then the other thing happened: 12,345 things in 1999.",
    "Über die Brücke läuft ein Äffchen, und niemand weiß warum.",
    "Once upon a time there was a little girl who lived in a village near the forest.",
    "whenever the girl went out, the girl wore a red riding cloak, so everyone called her that",
    "文字は文字です。これは短い文です。 日本語のテキスト",
    "def main(): return [i for i in range(10) if i % 2 == 0]",
] * 3

TEXTS = [
    "",
    " ",
    "   ",
    "a",
    "The quick brown fox",
    "the  quick   brown    fox ",
    " leading and trailing  ",
    "doesn't they're I'm we've n't ' s",
    "unaffable WORDS Mixed CaSe ÀÉÎ éè",
    "tabs\tand\nnewlines\r\n\n  here",
    "12,345.678 3.14 ½ ² ٣",
    "文字です。テキスト漢字\U00020000x",
    "한국어 हिन्दी עברית",
    "emoji 🙂👍🏽 👨‍👩‍👧 flags 🇩🇪",
    "unknown ∑∏√ ꙮꙮꙮ mixed ∑word∏",
    "<unk> </s> <s> [CLS] [MASK] <0x41>",
    "a<sep>b <sep> c",
    "▁already▁marked ▁ x",
    "nul\u0000\ufffd zero\u200bwidth \u00adsoft \ufeffbom \u0085nel \u00a0nbsp \u3000wide",
    "ΑΣ ΣΑΣ ὈΔΥΣΣΕΎΣ İstanbul straße ﬁne Ⅷ ｆｕｌｌ",
    "e\u0301 combining \u0301\u0301 a\u0308o",
    "a" * 99 + " " + "b" * 100 + " " + "girl" * 25 + " " + "girl" * 26,
    "http://example.com/?q=1&r=2#x ~/path_to/file-name.txt",
    "control \u0001\u0007 private \ue000 unassigned \u0378",
    "." * 9 + "!?,;:--__",
]


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def unigram(byte_fallback, precompiled=None):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = (
        normalizers.Sequence([normalizers.Precompiled(precompiled), normalizers.Replace(Regex(" {2,}"), " ")])
        if precompiled
        else normalizers.NFKC()
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>", "<sep>"]
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else []
    train(tokenizer, trainers.UnigramTrainer(vocab_size=220, special_tokens=special, unk_token="<unk>", show_progress=False))
    data = json.loads(tokenizer.to_str())
    if byte_fallback:
        data["model"]["vocab"] += [[token, 0.0] for token in byte_tokens]
        data["model"]["byte_fallback"] = True
        data["decoder"] = {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        }
    return data


def word_piece(**normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    train(tokenizer, trainers.WordPieceTrainer(vocab_size=260, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return json.loads(tokenizer.to_str())


def gemma():
    """BPE on the whole text: spaces become marks, so the rule that splits at spaces finds none."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    special = ["<pad>", "<eos>", "<bos>", "<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    train(tokenizer, trainers.BpeTrainer(vocab_size=460, special_tokens=special, show_progress=False))
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < 4]
    data["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ],
    }
    return data


def split(pattern, behavior, invert=False):
    """Byte-level BPE behind one Split rule."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(pattern, behavior, invert), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    train(tokenizer, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False))
    return json.loads(tokenizer.to_str())


def charsmap():
    """SentencePiece's own table for a few rules: one character to many, many to one, and to nothing."""
    import sentencepiece

    rules = {"\ufb01": "fi", "\u2167": "VIII", "e\u0301": "é", "\u3000": " ", "\u00a0": " ", "\u200b": "", "\uff46": "f", "½": "1/2"}
    table = Path("/tmp/charsmap.tsv")
    spell = lambda text: " ".join(f"{ord(char):X}" for char in text)
    table.write_text("".join(f"{spell(old)}\t{spell(new)}\n" for old, new in rules.items()), "utf-8")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=80, hard_vocab_limit=False,
        normalization_rule_tsv=str(table), minloglevel=2,
    )
    # The table is field 2 (`precompiled_charsmap`) of field 3 (`normalizer_spec`) of the model. Its first word is the trie's size.
    data = model.getvalue()
    at = data.rindex(b"user_defined") + len(b"user_defined")
    assert data[at] == 0x12
    length = shift = 0
    for at in range(at + 1, len(data)):
        length |= (data[at] & 0x7F) << shift
        shift += 7
        if data[at] < 0x80:
            break
    blob = data[at + 1 : at + 1 + length]
    assert struct.unpack("<I", blob[:4])[0] < length
    return blob


def make(folder):
    kinds = {
        "unigram": unigram(False),
        "unigram with bytes": unigram(True),
        "unigram with a character map": unigram(False, charsmap()),
        "word pieces": word_piece(),
        "word pieces, cased": word_piece(lowercase=False, strip_accents=None, handle_chinese_chars=True),
        "bytes behind marks": gemma(),
        "split before": split(Regex(r"\s+"), "merged_with_next"),
        "split behind": split(Regex(r"[,. ]"), "merged_with_previous"),
        "split at runs": split(Regex(r"[,. ]"), "contiguous"),
        "split inside": split(Regex(r"\p{L}+|\s+"), "removed", True),
    }
    result = {}
    for name, data in kinds.items():
        data["truncation"] = data["padding"] = None
        tokenizer = Tokenizer.from_str(json.dumps(data))
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]
        result[name] = {"tokenizer": data, "ids": ids, "decoded": [tokenizer.decode(row) for row in ids]}
    path = Path(folder) / "tokenizer" / "models.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"texts": TEXTS, "models": result}, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    return path


def make_published(folder, data):
    """Ids of the same texts from published tokenizers: {name: ids}, for each folder of `data` with a tokenizer.json."""
    result = {}
    for path in sorted(Path(data).glob("*/tokenizer.json")):
        tokenizer = Tokenizer.from_file(str(path))
        result[path.parent.name] = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]
    path = Path(folder) / "tokenizer" / "published.json"
    path.write_text(json.dumps(result, separators=(",", ":")) + "\n", "utf-8")
    return path


if __name__ == "__main__":
    fixtures = Path(__file__).parents[2] / "test" / "fixtures"
    written = [make(fixtures)] + [make_published(fixtures, folder) for folder in sys.argv[1:2]]
    for path in written:
        print(path, path.stat().st_size, "bytes")
