"""Two words in Cyrillic as a picture: an engine that cannot read them is not asked about pages in Russian."""

import base64

WORDS = "Снимок желудка"
# 420 by 90 pixels, DejaVu Sans as on a page of 200 dpi.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAaQAAABaAQAAAADf2B9FAAACMklEQVR42u2XvW7TUBSAv+tcta5UiJlgiJT7CJ1RBR468BgdGTsw"
    "FAk1p1WGbvgReA0WZKQMDEjlEW6j7tykGZzKuZfBSSrVbqtkQ/KZjn++e3x+5aMCm8skYhtpqZZqqZZqqf+LUttQC8wW1Ay3BeXO"
    "NnUshBB+hquwibioMriNXyOSbDFIx/N0ItcyDYabhSSLhHP9i2yiMGN0jYor3YKTbxne4CGZzYAeGcB4vqhRsrqyiECZ0iWYP550"
    "9WBU3L/0oDZyYNA9pRBi8WnnL1fWB1QhXO4V+UMqqXRBbuTgkAnovJTfMZBgHBISv1PPV6UnOH2GYQyRLUBLsTzTm7gew8pWMKQj"
    "ST0jUNySQcyuT4EyRdlHbEGxL8Al8NFyvQz2FAoJqsnWRONTQEhCAXz5wcrZl+Dkjkf8KsEMBejB+u9KlzKFKC8e7Uqh7AmOd8DB"
    "a/qhSpEHbQlNWe6WzKGrhYQM/AdTIdF3Itjjtk6tzftDyacqQMkR7r5oEkc9Goe4KlaxvgBigWGUCyQoiwVOG77QY6vipRRr0TAH"
    "ihCAKRpIva9R/UEKaNgdijsiynEo+/bOr8uz153V83Wx6pfyfAJYIjgJ8ScDw/A5Nnhe1aj9Vf2iJX+DghsoDpSsOyWJ69HoqONl"
    "NZZijuGEHNL9nc66p3b1i9q0eUq++kHoN06b58RsPOezZU42osJWtqYGOG6cvU+N2fdNN9Uze8p1v2lPUe1201It1VIt1VI1+QeL"
    "wF8+qUHdvAAAAABJRU5ErkJggg=="
)
