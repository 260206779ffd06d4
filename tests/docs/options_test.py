#!/usr/bin/env python3
"""options_test.py ROOT: an option of requests, or of opening a model, is in every list of them, or has a reason there.

The C interface's list is what the others are compared with: src/api/settings.cpp and src/api/open_settings.h. An option stands in
another list by its own name in that list's spelling, by one of NAMES, or not at all, for a reason that ABSENT has.
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(".")
SERVER, FLAGS, DOCS, PYTHON, NODE, TAB, VERB = "fields of requests", "flags", "docs/options.md", "Python", "Node.js", "tokamak-web", "the module's verb"
SPELLING = {
    SERVER: str, PYTHON: str,
    FLAGS: lambda name: "--" + name.replace("_", "-"), DOCS: lambda name: "--" + name.replace("_", "-"),
    **dict.fromkeys((NODE, TAB, VERB), lambda name: re.sub("_(.)", lambda found: found[1].upper(), name)),
}

# The names of options that are another word in a list.
NAMES = {
    ("chat_variables", SERVER): "chat_template_kwargs", ("choices", SERVER): "guided_choice", ("end_ids", SERVER): "stop_token_ids",
    ("tenant", SERVER): "cache_salt", ("adapter", SERVER): "model", ("prompt_logprobs", SERVER): "echo",
    ("separate_reasoning", SERVER): "reasoning_format",
    ("chat_variables", FLAGS): "--template-kwargs", ("temperature", FLAGS): "--temp", ("typical_p", FLAGS): "--typical",
    ("repetition_penalty", FLAGS): "--repeat-penalty", ("min_tokens", FLAGS): "--ignore-eos", ("separate_reasoning", FLAGS): "--think",
    ("adapter", FLAGS): "--lora", ("memory", FLAGS): "--max-memory", ("image_pixels", FLAGS): "--megapixels", ("projector", FLAGS): "--mmproj",
    ("sequences", FLAGS): "--max-sequences",
    ("chat_variables", PYTHON): "template", ("chat_variables", NODE): "templateVariables", ("chat_variables", TAB): "templateVariables",
    ("chat_variables", VERB): "variables",
    ("top_logprobs", NODE): "logprobs", ("top_logprobs", TAB): "logprobs", ("top_logprobs", VERB): "logprobs",
    ("memory", NODE): "maxMemory", **{("image_pixels", each): "megapixels" for each in (NODE, TAB, VERB)},
    ("adapter of opening", PYTHON): "adapters", ("adapter of opening", NODE): "adapters", ("adapter of opening", FLAGS): "--lora",
    ("model", FLAGS): "--model", ("model", VERB): "name",
}
# The pages of docs that have a flag besides docs/options.md.
OTHER_PAGES = {"--megapixels": "docs/serve.md", "--max-sequences": "docs/serve.md", "--pooling": "docs/serve.md"}

HERE = "is the argument of the call"
SHARED = "a request is alone in the program, or the server's own"
ABSENT = {
    SERVER: {"priority": "keys and requests take turns", "deadline": "a client that leaves ends its request"},
    FLAGS: {"suffix": "a prompt may spell the model's own marks", "end_ids": "--ignore-eos and --stop", "top_logprobs": "--logprobs of run has a number",
            "logprobs": "of run alone, beside its own flags", "prompt_logprobs": "tokamak perplexity", "choices": "--regex 'a|b'",
            "prompt": "of run and describe, beside their own flags",
            **dict.fromkeys(("priority", "deadline", "tenant"), SHARED)},
    PYTHON: {"prompt": HERE}, NODE: {"prompt": HERE}, TAB: {"prompt": HERE},
    VERB: {},
}
ABSENT[TAB].update({
    "prompt_logprobs": "for scoring texts, which the native library does", "separate_reasoning": "openaiFetch has it",
    "deadline": "an AbortSignal.timeout() as `signal`", "tenant": "a tab has one user", "adapter": "no adapters in a tab (docs/browser.md)"})
ABSENT[VERB] = {name: why for name, why in ABSENT[TAB].items() if name != "prompt"}

NO_THREAD = "for hosts of the C interface with a loop of their own"
TAB_DEVICE = "a tab has the device that the browser gives"
OPEN_ABSENT = {
    FLAGS: {"cache_tokens": "--max-memory", "has_thread": NO_THREAD},
    PYTHON: {"has_thread": NO_THREAD}, NODE: {"has_thread": NO_THREAD, "model": HERE},
    TAB: {"model": HERE, "has_thread": NO_THREAD, "memory": "a browser does not tell how much there is", "threads": "one thread (docs/browser.md)",
          "projector": "GGUF towers are found beside the model", "batch_invariant": "for servers with many requests",
          "precision": "a module has no kernels for it on processors",
          **dict.fromkeys(("device", "gpus", "split"), TAB_DEVICE),
          **dict.fromkeys(("speculate", "draft", "adapter of opening"), "not in a module (docs/browser.md)")},
}
OPEN_ABSENT[VERB] = {name: why for name, why in OPEN_ABSENT[TAB].items() if name != "model"}
# The store of documents, and the device of look() that is assumed.
OTHER_MEANING = {("memory", TAB), ("device", VERB)}
# Members of lists of requests that the C interface has not as options.
FURTHER = {PYTHON: {"messages", "tools"}, NODE: {"tools", "signal"}, TAB: {"images", "tools", "signal"},
           VERB: {"ids", "messages", "tools", "images"}}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def between(name, start, end):
    text = read(name)
    at = text.index(start) + len(start)
    return text[at:text.index(end, at)]


def members(name, interface):
    """The members of an interface in TypeScript."""
    return set(re.findall(r"^  (\w+)\??[:(]", between(name, f"export interface {interface}", "\n}"), re.MULTILINE))


def taken(name, function):
    """The fields that a verb of the module takes."""
    return set(re.findall(r'(?:take|find)\("(\w+)"', between(name, function, "\n}\n")))


def flags(*names):
    return {flag for name in names for found in re.findall(r'"(--?[a-z][\w,-]*)"', read(f"src/apps/cli/{name}.cpp")) for flag in found.split(",")}


def requests():
    own = re.findall(r'"(\w+)"', between("src/api/settings.cpp", "kRequestSettings[] = {", "};"))
    verb = taken("src/apps/web/text_verbs.cpp", "Result<TextRequest> text_request(") | taken("src/apps/web/text_verbs.cpp", "Result<Json> chat_of(")
    python = set(re.findall(r"^    (\w+): ", between("python/tokamak/_run.py", "class RequestOptions", "\n\n\n"), re.MULTILINE))
    python |= set(re.findall(r"(\w+): ", between("python/tokamak/_model.py", "    def chat(self, ", "**options")))
    return own, {
        SERVER: set(re.findall(r'^  \{"(\w+)"', read("src/protocol/requests/field_table.cpp"), re.MULTILINE)),
        FLAGS: flags("sampling_flags", "model_flags", "chat/thinking"),
        PYTHON: python, NODE: members("node/src/text_api.ts", "GenerateOptions"),
        TAB: members("web/tokamak-web/src/api.ts", "GenerateOptions"), VERB: verb,
    }


def openings():
    own = re.findall(r'visit\("(\w+)"', read("src/api/open_settings.h")) + ["adapter of opening", "has_thread"]
    python = set(re.findall(r"(\w+): ", between("python/tokamak/_model.py", "\ndef open(", ") -> Model:")))
    return own, {FLAGS: flags("model_flags", "service_sources", "serve/served_models", "embed"), PYTHON: python, NODE: members("node/src/api.ts", "OpenOptions"),
                 TAB: members("web/tokamak-web/src/api.ts", "OpenOptions"),
                 VERB: taken("src/apps/web/open_options.cpp", "Result<Opening> read_opening(")}


class Options(unittest.TestCase):
    def compare(self, own, lists, absent):
        self.assertGreater(len(own), 15)
        for name, found in lists.items():
            for option in own:
                there = NAMES.get((option, name), SPELLING[name](option))
                with self.subTest(option=option, list=name):
                    if option in absent[name]:
                        if (option, name) not in OTHER_MEANING:
                            self.assertNotIn(SPELLING[name](option), found, "it is there: its reason is none any more")
                    else:
                        self.assertIn(there, found)
            with self.subTest(list=name):
                self.assertLessEqual(set(absent[name]), set(own))

    def test_options_of_requests(self):
        self.compare(*requests(), ABSENT)

    def test_options_of_opening_a_model(self):
        self.compare(*openings(), OPEN_ABSENT)

    def test_a_list_of_requests_has_nothing_else(self):
        own, lists = requests()
        for name, further in FURTHER.items():
            known = {NAMES.get((option, name), SPELLING[name](option)) for option in own} | further
            with self.subTest(list=name):
                self.assertEqual(lists[name] - known, set())

    def test_the_documents_have_the_flags(self):
        for own, lists, absent in ((*requests(), ABSENT), (*openings(), OPEN_ABSENT)):
            for option in own:
                if option in absent[FLAGS]:
                    continue
                flag = NAMES.get((option, FLAGS), SPELLING[FLAGS](option))
                with self.subTest(option=option):
                    self.assertRegex(read(OTHER_PAGES.get(flag, DOCS)), rf"`[^`]*{flag}\b")


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
