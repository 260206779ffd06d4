"""What the dictionaries of the fuzz targets share."""


def print_words(words):
    """Prints texts as libFuzzer's dictionary has them: every byte escaped."""
    for word in words:
        text = "".join(f"\\x{byte:02x}" for byte in word.encode())
        print(f'"{text}"')
