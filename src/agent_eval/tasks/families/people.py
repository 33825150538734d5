"""Names, phone numbers and short messages, with neighbours that are easily taken for them. Knows no app and no task.

None of the names is one that a fresh phone draws for its own contacts, so a name from here means one person.
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random

_FIRST = (
    "Abel", "Alma", "Amir", "Anja", "Boris", "Bruno", "Celia", "Clara", "Cyrus", "Daria", "Edgar", "Ella", "Emil",
    "Felix", "Flora", "Gita", "Greta", "Hana", "Henri", "Ida", "Igor", "Irene", "Iris", "Ivan", "Joana", "Kamal",
    "Karl", "Laila", "Lena", "Lewis", "Louis", "Lucia", "Malik", "Marta", "Milan", "Mina", "Nadia", "Nina", "Olga",
    "Omar", "Paula", "Pedro", "Ravi", "Rita", "Ruben", "Selma", "Silas", "Sonja", "Tara", "Theo", "Uma", "Viktor",
    "Vera", "Wanda", "Yara", "Zoe",
)  # fmt: skip
_LAST = (
    "Adler", "Almeida", "Arnold", "Bauer", "Bell", "Blum", "Brandt", "Brook", "Castro", "Clark", "Collins", "Duarte",
    "Ebert", "Evans", "Farrell", "Ferrer", "Finch", "Fuchs", "Garner", "Gomes", "Grant", "Hansen", "Harper", "Ivers",
    "Jansen", "Keller", "Koch", "Kovac", "Kumar", "Lange", "Larsen", "Lopez", "Mahler", "Mehta", "Meyer", "Moreau",
    "Nolan", "Olsen", "Ortega", "Parker", "Pavlov", "Quill", "Reyes", "Roth", "Salazar", "Schmidt", "Serrano",
    "Singh", "Stone", "Tanaka", "Torres", "Vogel", "Wagner", "Winter", "Zeller", "Zimmer",
)  # fmt: skip

_ERRANDS = (
    "bring a ladder", "book a table", "buy fresh bread", "call the bank", "clean the grill", "feed the cat",
    "fetch the drill", "find the keys", "fix the fence", "get the cake", "lock the shed", "order more ink",
    "pack the camera", "paint the door", "post the letter", "print the map", "rent a van", "sell the bike",
    "test the lamps", "walk the dog", "wash the car", "water the roses", "wrap the gift",
)  # fmt: skip
_WHEN = (
    "today", "tonight", "tomorrow", "on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Saturday",
    "on Sunday", "this weekend", "before noon", "before dark", "after work", "after lunch", "at five",
)  # fmt: skip
_MESSAGES = (
    "Please {errand} {when}", "I will {errand} {when}", "We can {errand} {when}", "Let us {errand} {when}",
    "I can {errand} {when}", "Can I {errand} {when}?",
)  # fmt: skip

_SHORTEST_LAST = 4
"""A last name of so few letters is not made shorter."""
_PREFIX = "+1555"
"""How every number begins; 555 is no area code (North American Numbering Plan), so nobody has such a number."""
_DIGITS = 7


def draw_name(rng: Random) -> str:
    """Draw a person's name: a first and a last one."""
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def draw_names(count: int, rng: Random) -> list[str]:
    """Draw names of people who share neither the first nor the last one."""
    taken: set[str] = set()
    found: list[str] = []
    while len(found) < count:
        name = draw_name(rng)
        if taken.isdisjoint(name.split()):
            found.append(name)
            taken.update(name.split())
    return found


def near_names(name: str, count: int, rng: Random) -> list[str]:
    """Draw up to three names that are easily taken for another.

    The first has a letter more or less at its end, the second another last name, the third another first name.
    """
    first, _, last = name.partition(" ")
    cut = last[:-1] if len(last) > _SHORTEST_LAST else f"{last}{last[-1]}"
    letter_off = f"{first} {rng.choice((f'{last}s', cut))}"
    found = [letter_off, f"{first} {another(last, _LAST, rng)}", f"{another(first, _FIRST, rng)} {last}"]
    return found[:count]


def another(word: str, words: Collection[str], rng: Random) -> str:
    """Draw one of some words, but not this one."""
    return rng.choice([other for other in words if other != word])


def draw_phone(rng: Random) -> str:
    """Draw a phone number, such as ``+15557701234``."""
    return f"{_PREFIX}{rng.randrange(10**_DIGITS):0{_DIGITS}d}"


def near_phone(phone: str, rng: Random) -> str:
    """Draw a number that differs from another in one of its last digits."""
    place = len(phone) - 1 - rng.randrange(4)
    digit = another(phone[place], "0123456789", rng)
    return f"{phone[:place]}{digit}{phone[place + 1 :]}"


def draw_message(rng: Random) -> str:
    """Draw a short message, such as ``Please bring a ladder tonight``: few enough signs to be shown in one piece."""
    return rng.choice(_MESSAGES).format(errand=rng.choice(_ERRANDS), when=rng.choice(_WHEN))


def near_message(text: str, rng: Random) -> str:
    """Draw a message that differs from a drawn one in nothing but when."""
    when = next(when for when in _WHEN if text.rstrip("?").endswith(when))
    return text.replace(when, another(when, _WHEN, rng))
