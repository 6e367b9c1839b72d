"""The floor: decode the text of every line with a fast JSON reader and copy the lines to another file, in one process."""

import sys

import msgspec


class Line(msgspec.Struct):
    text: str


decode = msgspec.json.Decoder(Line).decode
with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    characters = 0
    while lines := source.readlines(2**23):
        characters += sum(len(decode(line).text) for line in lines)
        target.writelines(lines)
print(characters)
