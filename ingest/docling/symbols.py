"""Signs of the font Symbol by their codes: documents name them so, and a lost one changes what is said."""

FIRST, UPPER = 0x21, 0xA0
LOW = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
SYMBOL = {
    **{FIRST + at: sign for at, sign in enumerate(LOW)},
    **{UPPER + at: sign for at, sign in enumerate(HIGH)},
}
WINGDINGS = {0xE0: "→", 0xFB: "✗", 0xFC: "✓"}  # the ones that say something; bullets are none
PRIVATE = 0xF000  # Word adds it to the codes of such fonts
FONTS = {"symbol": SYMBOL, "wingdings": WINGDINGS}


def sign_of(font: str, code: int) -> str:
    """The letter for a sign; the private one that it came as where there is none."""
    known = FONTS.get(font.lower(), {})
    return known.get(code - PRIVATE if code >= PRIVATE else code, chr(code))


def readable(font: str, text: str) -> str:
    """A text in one of those fonts; what is no private letter stands as it is."""
    return "".join(sign_of(font, ord(one)) if PRIVATE <= ord(one) <= PRIVATE + 0xFF else one for one in text)
