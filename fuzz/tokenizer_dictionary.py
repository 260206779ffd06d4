#!/usr/bin/env python3
"""Prints libFuzzer's dictionary for the target tokenizer_json: members of the files of a tokenizer."""
from print_words import print_words

WORDS = (
    "\n---\n", '"add_bos_token"', '"add_eos_token"', '"added_tokens_decoder"',
    '"additional_special_tokens"', '"extra_special_tokens"', '"split_special_tokens"',
    '"add_prefix_space"', '"do_lower_case"', '"strip_accents"', '"tokenize_chinese_chars"',
    '"tokenizer_class"', '"LlamaTokenizerFast"', '"chat_template"', '"bos_token"',
    '"eos_token"', '"content"', '"normalized"', '"lstrip"', '"BertNormalizer"', '"ByteLevel"',
    '"TemplateProcessing"', '"Regex"',
)

print_words(WORDS)
