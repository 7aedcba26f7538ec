"""A generator without a model: it knows by heart what comes after which text, and is otherwise a real one.

The masks, programs, caches and seams are the package's own; only the logits are made up. They prefer the longest token
that goes on with the answer, so that what a mask permits of an answer is written.
"""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
from tiny_models import ASSISTANT, END, USER, tokenizer_json

import interlock
from interlock.generators.call_arguments.arguments import as_messages
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.local import LocalGenerator
from interlock.generators.prompts.chat_content import messages_for
from interlock.generators.replies.completion import Known, read
from interlock.programs.cached_model import CachedModel


def _end(text, key):
    """Where the last ``key`` ends, and its length."""
    at = text.rfind(key)
    return (at + len(key) if at >= 0 else -1, len(key))


class ScriptedModel(CachedModel):
    """Logits from a script: where the text ends with a key and the beginning of its answer, the answer goes on."""

    def __init__(self, vocabulary, tokenizer, script):
        super().__init__(vocabulary)
        self._tokenizer, self.script, self._ids = tokenizer, script, []
        self.can_go_back = True
        self._spellings = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]

    def encode(self, text):
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def _kept(self, length, known):
        assert known == len(self._ids) and 0 < length <= known
        if length < known and not self.can_go_back:
            return False
        del self._ids[length:]
        return True

    def _forget(self):
        self._ids = []

    def _feed(self, ids):
        assert ids
        self._ids += ids
        return self.after(self._ids)

    def after(self, ids):
        """The logits behind ``ids``."""
        text = b"".join(self._spellings[i] for i in ids)
        rest = b""
        # The key that ends last in the text decides, of several the longest.
        for key, answer in sorted(self.script.items(), key=lambda item: _end(text, item[0].encode())):
            at = text.rfind(key.encode())
            if at >= 0:
                written = text[at + len(key.encode()) :]
                written = written.removeprefix(END.encode()).removeprefix(ASSISTANT.encode())
                rest = answer.encode()[len(written) :] if answer.encode().startswith(written) else b""
        logits = -0.001 * np.arange(self.vocabulary.size, dtype=np.float32)
        stop = self.vocabulary.eos_token_ids[0]
        if not rest:
            logits[stop] = 50
        for i, spelling in enumerate(self._spellings):
            if rest and i != stop and spelling and rest.startswith(spelling):
                logits[i] = 10 + len(spelling)
        return logits


class ScriptedGenerator(LocalGenerator):
    """``script`` maps what a prompt ends with to the answer."""

    backend = "the script"

    def __init__(self, script=None, **options):
        import tokenizers

        self.tokenizer = tokenizers.Tokenizer.from_str(tokenizer_json())
        self.tokenizer.encode_special_tokens = True
        self._chats = tokenizers.Tokenizer.from_str(tokenizer_json())
        stop = self.tokenizer.token_to_id(END)
        vocabulary = interlock.Vocabulary.from_tokenizer(self._chats, eos_token_ids=[stop], size=320)
        super().__init__(vocabulary, **options)
        self.script = {} if script is None else script

    def _new_cached_model(self):
        return ScriptedModel(self.vocabulary, self.tokenizer, self.script)

    def encode(self, prompt, chat=None):
        if isinstance(prompt, str) and not chat and chat is not None:
            return self.tokenizer.encode(prompt).ids
        turns = messages_for("", as_messages(prompt), None)
        begun = turns.pop()["content"] if prefill_of(turns) is not None else ""
        text = "".join(f"{USER}{turn['content']}{END}" for turn in turns)
        return self._chats.encode(text + ASSISTANT + begun).ids

    def _option_names(self):
        return ("temperature", "seed")

    def _texts(self, prompts, output, max_tokens, options):
        found = []
        for prompt in prompts:
            ends = []
            found.append(read(self._pieces(prompt, output, max_tokens, options, ends), ends))
        return found

    def _pieces(self, prompt, output, max_tokens, options, ends):
        options = dict(options)
        on_tight = options.pop("on_tight", None)
        if prefill_of(prompt) is not None:
            return self._behind_prefill(prompt, output, max_tokens, options, ends)

        def pieces():
            program = interlock.Program(self, prompt, chat=True, **options)
            # The call itself makes a value of the text, and warns of its numbers.
            program._warn_of_numbers = lambda *arguments: None
            with warnings.catch_warnings():
                if on_tight is not None:
                    warnings.simplefilter("ignore", interlock.TightBudgetWarning)
                program.gen(None, dataclasses.replace(output, parse=str), max_tokens=max_tokens)
            transcript = program._transcript
            ids = transcript.ids[transcript.start :]
            yield from (self.vocabulary.decode([i]).decode() for i in ids)
            if on_tight is not None:
                self.check_budget_of_one(self.index(output), ids, max_tokens, on_tight)
            reason = self.finish_reason(self.index(output), ids, max_tokens)
            ends.append(Known(list(ids), transcript.start, len(ids), None, reason))
            return reason

        return pieces()

    def _behind_prefill(self, prompt, output, max_tokens, options, ends):
        ids = self.encode(prompt)
        begun = self._index_behind(prompt, ids, output)
        yield prefill_of(prompt)
        written = self._ids_behind(ids, begun, max_tokens, options)
        yield from (self.vocabulary.decode([i]).decode() for i in written)
        reason = self.finish_reason(begun, written, max_tokens)
        ends.append(Known(written, len(ids), len(written), None, reason))
        return reason
