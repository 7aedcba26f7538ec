"""A tokenizer of 300 tokens with a chat template, and a model of random numbers for it: real classes of transformers,
made here in a moment."""

from __future__ import annotations

import json

MERGES = 'Ġ t|h e|i s|Ġ 1|1 2|Ġ {|Ġ{ "|" :|e s|y es|n o|l o|l lo|Ġ yes|Ġ 4|4 2|: /|:/ /'.split("|")
END, USER, ASSISTANT = "<|end|>", "<|user|>", "<|assistant|>"
TEMPLATE = (
    "{% for m in messages %}<|user|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def _byte_letters() -> list[str]:
    """The letters that stand for bytes in byte-level tokenizers, by byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, more = {}, 0
    for byte in range(256):
        if byte in plain:
            letters[byte] = chr(byte)
        else:
            letters[byte] = chr(256 + more)
            more += 1
    return [letters[byte] for byte in range(256)]


def tokenizer_json() -> str:
    """A ``tokenizer.json`` of byte-level BPE with a few merges and three special tokens."""
    tokens = _byte_letters()
    merges = []
    for merge in MERGES:
        left, right = merge.split(" ")
        if left in tokens and right in tokens:
            merges.append([left, right])
            tokens.append(left + right)
    special = [
        {
            "id": len(tokens) + i,
            "content": name,
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for i, name in enumerate((END, USER, ASSISTANT))
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": special,
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": None,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": {token: i for i, token in enumerate(tokens)},
                "merges": merges,
            },
        }
    )


def tiny_tokenizer():
    """A fast tokenizer of transformers."""
    import tokenizers
    import transformers

    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(tokenizer_json()), eos_token=END, pad_token=END
    )
    made.chat_template = TEMPLATE
    return made


def tiny_model(tokenizer, seed=0):
    """Two layers of random numbers, the same at every run; the logits are wider than the vocabulary."""
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=320,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=4096,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return transformers.LlamaForCausalLM(config).eval()
