"""Vocabulary.from_file of the folder of a model."""

import json

from interlock import Vocabulary


def test_a_folder_is_read_by_the_tokenizer_file_in_it(tmp_path):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "<end>": 2}, "merges": []}
    added = [{"id": 2, "content": "<end>", "special": True}]
    document = {"model": model, "added_tokens": added, "decoder": {"type": "ByteLevel"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    (tmp_path / "tekken.json").write_text("{}")
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<end>"}')
    named = Vocabulary.from_file(tmp_path / "tokenizer.json")
    for folder in (tmp_path, str(tmp_path)):
        read = Vocabulary.from_file(folder)
        assert read.eos_token_ids == [2]
        assert read.fingerprint == named.fingerprint
