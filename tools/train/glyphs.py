"""The colour bitmaps of an emoji font, with the code points of each."""

from fontTools.ttLib import TTFont

SKIN_TONES = set(range(0x1F3FB, 0x1F400))
HAIR = set(range(0x1F9B0, 0x1F9B4))
# Code points that change gender, direction, colour or presentation of a picture, not its subject.
COLOURS = {0x2B1B, 0x1F7E9, 0x1F7EB}
MODIFIERS = SKIN_TONES | HAIR | COLOURS | {0x200D, 0xFE0F, 0x2640, 0x2642, 0x27A1, 0x20E3}
ADULT, CHILD, ELDER, COUPLE, ROYAL = 0x1F9D1, 0x1F9D2, 0x1F9D3, 0x1F491, 0x1FAC5
SAME_SUBJECT = {
    0x1F468: ADULT,
    0x1F469: ADULT,
    0x1F471: ADULT,
    0x1F9D4: ADULT,
    0x1F466: CHILD,
    0x1F467: CHILD,
    0x1F474: ELDER,
    0x1F475: ELDER,
    0x1F46B: COUPLE,
    0x1F46C: COUPLE,
    0x1F46D: COUPLE,
    0x1F46A: COUPLE,
    0x1F48F: COUPLE,
    0x1F934: ROYAL,
    0x1F478: ROYAL,
    0x1F936: 0x1F385,
    0x1F57A: 0x1F483,
}
PEOPLE = {ADULT, CHILD, ELDER}
HEARTS = {0x2764, 0x1F48B, 0x1F91D}
PRIVATE_USE = 0xF0000
FLAGS = {0x1F3F3, 0x1F3F4, 0x1F3C1, 0x1F38C, 0x1F6A9} | set(range(0x1F1E6, 0x1F200))


def read_font(path):
    """Returns {code points: PNG bytes}, one entry for each picture of the font at `path`."""
    font = TTFont(path)
    sequences = {}
    for code, name in sorted(font.getBestCmap().items()):
        if code < PRIVATE_USE:
            sequences.setdefault(name, (code,))
    spell_ligatures(font, sequences)
    pictures, seen = {}, set()
    for name, glyph in font["CBDT"].strikeData[0].items():
        if name in sequences and glyph.imageData not in seen:
            seen.add(glyph.imageData)
            pictures[sequences[name]] = glyph.imageData
    return pictures


def spell_ligatures(font, sequences):
    """Adds the code point sequences of the font's ligatures to `sequences`."""
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            for first, ligatures in getattr(table, "ligatures", {}).items():
                for ligature in ligatures:
                    parts = [first] + ligature.Component
                    if ligature.LigGlyph not in sequences and all(p in sequences for p in parts):
                        codes = sum((sequences[p] for p in parts), ())
                        sequences[ligature.LigGlyph] = codes


def subject(codes):
    """The subject of a picture: equal for skin tones, genders, hair, families and flags."""
    if codes[0] in FLAGS:
        return (0x1F3F3,)
    kept = [SAME_SUBJECT.get(c, c) for c in codes if c not in MODIFIERS]
    people = [c for c in kept if c in PEOPLE]
    if len(people) > 1 or COUPLE in kept or (people and HEARTS & set(kept)):
        return (COUPLE,)
    return tuple(sorted(kept)) or codes[:1]
