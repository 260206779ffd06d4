#!/usr/bin/env python3
"""chat.py [BACKEND [MODEL]]: a conversation with the built-in model, or with one of yours, as it is written."""
import sys

import tokamak

QUESTIONS = ["Who lived in the forest?", "What did the fox say?"]


def main(backend="auto", model=""):
    with tokamak.open(model, backend=backend) as opened:
        messages = []
        for question in QUESTIONS:
            messages.append({"role": "user", "content": question})
            print(f"> {question}")
            answer = opened.chat(messages, max_tokens=40)
            for piece in answer:
                print(piece, end="", flush=True)
            print(f"\n({answer.result.finish}, {len(answer.result.ids)} tokens)")
            messages.append({"role": "assistant", "content": answer.text})


if __name__ == "__main__":
    main(*sys.argv[1:])
