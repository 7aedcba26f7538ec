"""Jump-forward in the engine itself, in this process: steps are counted and drafts switched on and off."""

import json
import os

import jsonschema
import pytest

os.environ.update(
    HF_HUB_OFFLINE="1",
    VLLM_NO_USAGE_STATS="1",
    VLLM_CPU_KVCACHE_SPACE="1",
    VLLM_ENABLE_V1_MULTIPROCESSING="0",
    INTERLOCK_VLLM_WHITESPACE="compact",
)

CALL = {
    "type": "object",
    "properties": {
        "name": {"const": "create_calendar_event"},
        "arguments": {
            "type": "object",
            "properties": {
                "event_title": {"type": "string", "maxLength": 12},
                "duration_minutes": {"type": "integer", "minimum": 5, "maximum": 90},
                "is_recurring_event": {"type": "boolean"},
            },
            "required": ["event_title", "duration_minutes", "is_recurring_event"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}

RECORD = {
    "type": "object",
    "properties": {
        "customer_id": {"type": "integer", "minimum": 1, "maximum": 9999},
        "shipping_city": {"type": "string", "maxLength": 10},
        "payment_method": {"enum": ["card", "cash", "bank transfer"]},
        "items_ordered": {"type": "array", "items": {"enum": ["pen", "ink", "pad"]}, "minItems": 1, "maxItems": 3},
        "is_gift": {"type": "boolean"},
    },
    "required": ["customer_id", "shipping_city", "payment_method", "items_ordered", "is_gift"],
    "additionalProperties": False,
}
KINDS = {"tool calls": ("Call", CALL), "records": ("Order", RECORD)}
COUNT = 10


class Engine:
    """An engine whose scheduler and model share this process."""

    def __init__(self, folder):
        from interlock.integrations.vllm import register

        register()
        from vllm import LLM

        self.llm = LLM(
            str(folder),
            dtype="float32",
            enforce_eager=True,
            max_model_len=512,
            max_num_seqs=4,
            enable_prefix_caching=False,
            structured_outputs_config={"backend": "interlock"},
            speculative_config={
                "method": "custom_class",
                "model": "interlock.integrations.vllm.proposer.ForcedTokensProposer",
                "num_speculative_tokens": 8,
            },
        )
        core = self.llm.llm_engine.engine_core.engine_core
        self.backend = core.structured_output_manager.backend
        self.steps = 0
        original = core.model_executor.execute_model

        def counted(output, *args, **kwargs):
            self.steps += output.total_num_scheduled_tokens > 0
            return original(output, *args, **kwargs)

        core.model_executor.execute_model = counted

    def outputs(self, kind, jump, temperature):
        """Texts, tokens and steps of ten outputs of a kind, one after the other."""
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        (word, schema), before, texts, tokens = KINDS[kind], self.steps, [], 0
        self.backend.jumps = jump
        for n in range(COUNT):
            constraint = StructuredOutputsParams(json=schema)
            params = SamplingParams(temperature=temperature, max_tokens=120, structured_outputs=constraint)
            (answer,) = self.llm.generate([f"{word} {n}: "], params, use_tqdm=False)
            texts.append(answer.outputs[0].text)
            tokens += len(answer.outputs[0].token_ids)
            jsonschema.validate(json.loads(texts[-1]), schema)
        return texts, tokens, self.steps - before


@pytest.fixture(scope="module", params=["tiny", "smollm2"])
def engine(request, model_folder):
    """interlock knows how ``tiny``'s tokenizer encodes. Where it does not, the tokenizer itself spells forced bytes."""
    yield Engine(model_folder / request.param)
    import gc

    gc.collect()


@pytest.mark.parametrize("kind", KINDS)
def test_jump_forward(engine, kind):
    """Forced tokens cost no step of their own, and the text is the one without drafts."""
    forced = engine.backend.counts.forced
    assert engine.backend.canonical
    texts = {}
    for jump, temperature in ((False, 0.0), (True, 0.0), (True, 0.8)):
        before = forced.value("proposed"), forced.value("accepted")
        made, tokens, steps = engine.outputs(kind, jump, temperature)
        proposed, accepted = forced.value("proposed") - before[0], forced.value("accepted") - before[1]
        print(
            f"{kind}, jump-forward {jump}, temperature {temperature}: {tokens} tokens, {steps} steps; "
            f"{accepted} of {proposed} forced drafts accepted, {accepted / tokens:.0%} of the tokens"
        )
        if temperature == 0:
            texts[jump] = made
        if jump:
            # The mask leaves a forced token alone, so it has the probability 1 and every draft of it holds.
            assert accepted == proposed > 0.3 * tokens and steps <= (tokens - accepted) * 1.05
        else:
            assert proposed == 0 and steps == tokens
    assert texts[False] == texts[True]
    assert engine.backend.counts.rejected.value() == 0
