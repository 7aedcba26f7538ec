"""Rollouts with verifiers, the library of environments for reinforcement learning, from a server that has interlock.

An agent's ``SamplingConfig`` takes what the server knows beside what verifiers knows, so a constraint is one more
argument: ``structured_outputs``. Then every rollout has the form that its reward reads. The program asks with and
without the constraint, and ends with an error if a constrained output has another form.

    pip install verifiers==0.4.0
    vllm serve MODEL --structured-outputs-config.backend interlock
    python examples/rollouts_verifiers.py http://localhost:8000/v1 MODEL
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import urllib.request

import verifiers.v1 as vf
from verifiers.v1.runtimes import ProgramResult, SubprocessConfig

PATTERN = r"(so|well|hm), it is ([0-9]{1,2})"
SUMS = {"What is 7 times 6?": 42, "What is 9 plus 8?": 17}
GROUP = 4


class OneAnswer(vf.Harness[vf.HarnessConfig]):
    """The shortest program of an agent: it asks once. verifiers adds the agent's sampling on the way to the server."""

    NEEDS_CONTAINER = False
    EXECUTES_CODE = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        body = {"model": ctx.model, "messages": [{"role": "user", "content": data.prompt}]}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
        request = urllib.request.Request(f"{endpoint}/chat/completions", json.dumps(body).encode(), headers)
        answer = await asyncio.to_thread(urllib.request.urlopen, request)
        return ProgramResult(0, answer.read().decode(), "")


__all__ = ["OneAnswer"]


class Sum(vf.TaskData):
    """A question, and the number that answers it."""

    result: int


class SumTask(vf.Task[Sum]):
    """Full marks for the right number, and fewer the further it is away."""

    @vf.reward
    async def near(self, trace: vf.Trace) -> float:
        found = re.fullmatch(PATTERN, trace.last_reply)
        return 1 / (1 + abs(int(found[2]) - self.data.result)) if found else 0.0


async def rollouts(url: str, model: str, **sampling: object) -> list[vf.Trace]:
    """``GROUP`` rollouts of each question."""
    config = vf.AgentConfig(
        model=model,
        harness={"id": "rollouts_verifiers"},
        runtime=SubprocessConfig(),
        client=vf.EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY"),
        sampling=vf.SamplingConfig(temperature=1.0, max_tokens=24, **sampling),
    )
    tasks = [SumTask(Sum(prompt=prompt, result=result)) for prompt, result in SUMS.items()]
    async with vf.make_agent(config) as agent:
        return [await agent.run(task) for task in tasks for _ in range(GROUP)]


def main(url: str, model: str) -> None:
    # verifiers finds the program of an agent by the name of its module.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    asked = {"free": {}, "constrained": {"structured_outputs": {"regex": PATTERN}}}
    for name, sampling in asked.items():
        traces = asyncio.run(rollouts(url, model, **sampling))
        if failed := [trace.errors for trace in traces if not trace.ok]:
            sys.exit(f"{name}: {failed[0]}")
        replies = [trace.last_reply for trace in traces]
        readable = sum(re.fullmatch(PATTERN, reply) is not None for reply in replies)
        mean = sum(trace.reward for trace in traces) / len(traces)
        print(f"{name}: {len(replies)} rollouts, {readable} in form, mean reward {mean:.3f}, first {replies[0]!r}")
        if name == "constrained" and readable < len(replies):
            sys.exit("an output has another form")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
