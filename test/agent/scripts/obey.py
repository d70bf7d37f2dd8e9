"""Runs standard input line by line in a script's namespace and answers each line with its value in JSON."""

import json
import sys


def obey(namespace):
    """Until the end of input. An expression's value is answered when JSON can say it, else null."""
    # Unbuffered: a line that replaces the program (exec) must leave the next ones to the new one.
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as lines:
        for raw in iter(lines.readline, b""):
            answer(raw.decode(), namespace)


def answer(line, namespace):
    """Run one line and print its answer."""
    try:
        value = eval(compile(line, "<line>", "eval"), namespace)
    except SyntaxError:
        exec(compile(line, "<line>", "exec"), namespace)
        value = None
    if not isinstance(value, (int, float, str, list, dict)):
        value = None
    print(json.dumps(value), flush=True)
