#!/usr/bin/env python3
"""Prints libFuzzer's dictionary for the target regex: constructs of Oniguruma's syntax."""

WORDS = (
    "[^", "[[", "]]", "&&", "[:alpha:]", "[:^word:]", "\\p{", "\\P{^", "\\p{Han}", "\\p{Lu}",
    "\\u3042", "\\x{", "\\x{41}", "\\xC3\\xA9", "\\o{101}", "\\101", "\\h", "\\R", "\\K", "\\G",
    "\\b", "\\k<n>", "(?<n>", "(?i)", "(?i:", "(?m-x:", "(?x)", "(?<=", "(?<!", "(?>", "(?~",
    "(?#", "{2,3}", "{,3}", "{3,1}", "++", "*?", "ss", "ffi", "\n---\n",
)


def main():
    for word in WORDS:
        text = "".join(f"\\x{byte:02x}" for byte in word.encode())
        print(f'"{text}"')


if __name__ == "__main__":
    main()
