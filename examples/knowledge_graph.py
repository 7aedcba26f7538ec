"""A knowledge graph: the model names the nodes, and every edge joins two of those.

python examples/knowledge_graph.py [--model smollm2]
"""

import sys

from models import arguments, generator

TEXT = "Marie Curie, born in Warsaw, discovered radium in Paris with her husband Pierre.\n"
RELATIONS = ["born in", "discovered", "married to", "worked in"]
NODES = {"type": "array", "items": {"type": "string", "pattern": "^[A-Z][a-z]{2,11}$"}, "minItems": 3, "maxItems": 5}


def main(argv=None):
    program = generator(arguments(__doc__, argv).model).program(f"{TEXT}Names and places: ")
    nodes = program.gen("nodes", {**NODES, "uniqueItems": True}, max_tokens=80)
    program += "\nFacts:\n"
    edges = []
    for number in range(1, 4):
        program += f"{number}. "
        start = program.select("from", nodes)
        program += " "
        relation = program.select("relation", RELATIONS)
        program += " "
        edges.append((start, relation, program.select("to", [node for node in nodes if node != start])))
        program += "\n"
    print("graph LR", *(f"{start} -- {relation} --> {end}" for start, relation, end in edges), sep="\n  ")
    if len(set(nodes)) < 3 or any({a, b} - set(nodes) or a == b or r not in RELATIONS for a, r, b in edges):
        sys.exit(f"not a graph over {nodes}: {edges}")


if __name__ == "__main__":
    main()
