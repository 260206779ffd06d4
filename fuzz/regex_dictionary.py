#!/usr/bin/env python3
"""Prints libFuzzer's dictionary for the target regex: constructs of Oniguruma's syntax."""
from print_words import print_words

WORDS = (
    "[^", "[[", "]]", "&&", "[:alpha:]", "[:^word:]", "\\p{", "\\P{^", "\\p{Han}", "\\p{Lu}",
    "\\u3042", "\\x{", "\\x{41}", "\\xC3\\xA9", "\\o{101}", "\\101", "\\h", "\\R", "\\K", "\\G",
    "\\b", "\\k<n>", "(?<n>", "(?i)", "(?i:", "(?m-x:", "(?x)", "(?<=", "(?<!", "(?>", "(?~",
    "(?#", "{2,3}", "{,3}", "{3,1}", "++", "*?", "ss", "ffi", "\n---\n",
)

print_words(WORDS)
