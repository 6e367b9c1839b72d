"""Ranges of characters that were selected by hand, with the decisions about writing systems in one place. Both ends are included."""

from __future__ import annotations

Ranges = tuple[tuple[int, int], ...]

#: Scripts without spaces between words: each letter or number is a word; a mark after it, such as a Thai vowel sign, belongs to it.
WITHOUT_SPACES: Ranges = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303B),  # marks and numerals used with Han and Kana
    (0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F),  # Hiragana, Katakana
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),  # Han, all of planes 2 and 3: future characters there will be Han
)  # fmt: skip

#: Pictographs, now and in future versions of Unicode.
PICTOGRAPHS: Ranges = ((0x1F000, 0x1FAFF),)

#: The marks that `accents` removes: the blocks of diacritical marks for Latin, Greek and Cyrillic. The vowel and tone signs of other scripts
#: (Devanagari, Thai ...) and the sound marks of Kana carry the word's meaning and are kept; those of Arabic and Hebrew are `marks`.
ACCENTS: Ranges = (
    (0x0300, 0x036F), (0x0483, 0x0489), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0x2DE0, 0x2DFF),
    (0xA66F, 0xA672), (0xA674, 0xA67D), (0xA69E, 0xA69F), (0xFE20, 0xFE2F),
)  # fmt: skip

#: Blocks whose non-spacing marks (Mn) are vowel marks that a writer may omit: Hebrew and Arabic, but not Syriac and Thaana.
VOWEL_MARKS: Ranges = ((0x0590, 0x05FF), (0x0600, 0x06FF), (0x0750, 0x077F), (0x0870, 0x08FF), (0xFB1E, 0xFB1E), (0x10EC0, 0x10EFF))
TATWEEL = 0x0640

VARIATION_SELECTORS: Ranges = ((0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))

#: White space among control characters, as in str.split(). Other white space has category Z*.
CONTROL_SPACES: Ranges = ((0x09, 0x0D), (0x1C, 0x1F), (0x85, 0x85))
