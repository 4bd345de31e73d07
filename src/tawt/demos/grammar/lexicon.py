"""The words of the generated corpus, the frequent ones first in each list.

Many words stand in two lists on purpose: "plans" is a noun or a verb, "Jordan" a person or a
place, "before" opens a phrase or a clause. Only the sentence tells.
"""

from __future__ import annotations

from typing import Final

Words = tuple[str, ...]


def _words(text: str, *, between: str | None = None) -> Words:
    return tuple(text.split(between))


PERSON_NOUNS: Final[Words] = _words(
    """mayor senator minister teacher officer judge doctor worker farmer lawyer student leader
    reporter driver player engineer nurse critic guard voter investor analyst resident coach witness
    editor artist neighbor pilot guide cook author singer"""
)
GROUP_NOUNS: Final[Words] = _words(
    """company council bank team party court agency government union committee club ministry firm
    university hospital airline newspaper factory"""
)
PLACE_NOUNS: Final[Words] = _words(
    """city town school street park station border market bridge office river village airport
    valley museum hotel stadium church beach field lake island mall"""
)
THING_NOUNS: Final[Words] = _words(
    """plan report deal offer visit vote project claim law budget test study review tax contract
    call attack cut move record program order election protest talk price trade story increase
    meeting building agreement run question answer letter road support decision strike bill
    charge ban search fight share guide fire storm book race house machine system"""
)
WEB_PERSON_NOUNS: Final[Words] = _words(
    """guy friend kid girl boy dad mom teacher boss brother dude roommate player fan sister cousin
    neighbor coach singer"""
)
WEB_THING_NOUNS: Final[Words] = _words(
    """phone movie song video game picture post show car dog shirt pizza ticket app laptop coffee
    book cat call text test run plan review order party charge share link drink fight race trip
    walk cut bike photo weekend story house"""
)
TIME_NOUNS: Final[Words] = ("week", "year", "month", "summer", "night", "season")

ADJECTIVES: Final[Words] = _words(
    """new old large small local public former national young early foreign long major strong
    high open recent final private key official senior rich poor quiet empty famous modern
    expensive annual difficult popular cheap clean broken secret legal medical"""
)
WEB_ADJECTIVES: Final[Words] = _words(
    """new good great bad cool crazy awesome little old cute weird free funny huge boring amazing
    cheap broken stupid open clean"""
)
STATES: Final[Words] = _words(
    """ready happy angry open wrong likely clear safe difficult careful ill popular tired sure
    important quiet strong empty"""
)
WEB_STATES: Final[Words] = _words(
    "happy sick tired bored awesome late ready mad sure funny wrong crazy hungry lost open"
)

TRANSITIVE: Final[Words] = _words(
    """plan report offer review approve cut reject announce order change sign record test move study
    support discuss publish open build buy sell close increase trade lead fight ban
    charge win lose attack claim search accept describe cancel finish share protest"""
)
WEB_TRANSITIVE: Final[Words] = _words(
    """love hate watch like want need buy finish post share see break find test order play fix
    review miss lose read text drink record plan cut"""
)
PERSONAL: Final[Words] = _words(
    """meet visit call help join thank blame praise support charge elect attack guard fire hire
    guide coach question sue see"""
)
INTRANSITIVE: Final[Words] = _words(
    """vote talk work protest resign wait arrive run fight answer rise fall drop strike speak
    sleep laugh appear"""
)
MOTION: Final[Words] = _words(
    "go travel move return come walk run drive fly race march"  # as in "in March", too
)
SPEECH: Final[Words] = _words("say claim report announce believe know argue warn hope think")
CONTROL: Final[Words] = _words("want plan try hope agree decide refuse promise need vote offer")
PARTICLES: Final[tuple[tuple[str, str], ...]] = (
    ("set", "up"), ("carry", "out"), ("turn", "down"), ("call", "off"), ("pick", "up"),
    ("give", "up"), ("cut", "down"), ("take", "over"), ("open", "up"), ("run", "down"),
)  # fmt: skip
LINKING: Final[Words] = ("seem", "become", "remain", "look", "sound")

# Base, past, participle; the rest is regular.
IRREGULAR: Final[Words] = _words(
    """become became become|begin began begun|break broke broken|build built built|buy bought bought
    |come came come|cut cut cut|do did done|drink drank drunk|drive drove driven|fall fell fallen
    |fight fought fought|find found found|fly flew flown|give gave given|go went gone|have had had
    |know knew known|lead led led|lose lost lost|meet met met|read read read|rise rose risen
    |run ran run|say said said|see saw seen|sell sold sold|set set set|sleep slept slept
    |speak spoke spoken|strike struck struck|take took taken|think thought thought
    |win won won""",
    between="|",
)

MID_ADVERBS: Final[Words] = _words(
    "already also still never often finally recently probably always now"
)
END_ADVERBS: Final[Words] = _words(
    "again quickly together early quietly soon later there here slowly abroad"
)
FRONT_ADVERBS: Final[Words] = ("Meanwhile", "However", "Recently", "Now", "Still", "Later", "Again")
DEGREES: Final[Words] = ("very", "still", "too", "quite", "really", "less", "extremely")
DAY_WORDS: Final[Words] = ("yesterday", "today", "tomorrow")
DAYS: Final[Words] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final[Words] = ("May", "March", "June", "April", "August", "July", "October", "January")

MODALS: Final[Words] = ("will", "would", "could", "may", "can", "should", "might", "must")
PLACE_PREPOSITIONS: Final[Words] = ("in", "near", "from", "at", "outside", "across", "over", "down")
THING_PREPOSITIONS: Final[Words] = ("of", "for", "about", "on", "with", "against", "over", "after")
TIME_PREPOSITIONS: Final[Words] = ("after", "before", "during", "since", "until")
CONJUNCTIONS: Final[Words] = ("because", "after", "while", "before", "although", "since", "if")
NUMBERS: Final[Words] = (
    "two", "three", "five", "10", "several", "four", "six", "12", "20", "50", "100", "300", "1,500",
)  # fmt: skip

TITLES: Final[Words] = ("Mr.", "Ms.", "Senator", "President", "Dr.", "Judge", "Mayor", "Professor")
FIRST_NAMES: Final[Words] = _words(
    """John Mary Paris Jordan David Georgia Anna Austin James Charlotte Peter Sydney Laura Florence
    Robert Victoria Daniel Chelsea Maria Jackson Kevin Grace Ahmed Mark Yuki Carlos Sofia Ivan Will
    Olga Rose Bill Priya"""
)
LAST_NAMES: Final[Words] = _words(
    """Washington Smith Lincoln Jordan Brown Jackson Ford Houston Lee Madison Cleveland Garcia
    Morgan Chen Hamilton Wells Berlin Miller Young Patel London Novak Baker Johnson Cook Moore
    Rossi Hill Sato March Fields Kim Judge"""
)
PLACES: Final[Words] = _words(
    """Washington Paris London Jordan China Lincoln Berlin Houston Georgia Texas Austin France
    Jackson Madison Cleveland Sydney Florence Boston Chicago Japan Victoria Charlotte Hamilton
    India Egypt Rome Chelsea Moscow Brazil Tokyo Cairo Denver Vienna Kenya Oslo Lima"""
)
LONG_PLACES: Final[tuple[Words, ...]] = (
    ("New", "York"), ("Los", "Angeles"), ("South", "Korea"), ("New", "Jersey"), ("Hong", "Kong"),
    ("San", "Francisco"), ("Cape", "Town"), ("Saudi", "Arabia"), ("New", "London"),
)  # fmt: skip
PLACE_HEADS: Final[Words] = ("Lake", "Mount", "Fort", "Port")
ORG_HEADS: Final[Words] = (
    "Bank", "Corp.", "Group", "University", "Airlines", "Post", "Motors", "Hospital", "Council",
    "Times", "Inc.", "Union", "Party", "Partners",
)  # fmt: skip
ORG_STEMS: Final[Words] = _words(
    """Ford Washington National First Jackson Morgan Pacific United Wells Hamilton London General
    American Baker Chelsea Sun Berlin Madison Delta Northern"""
)
ACRONYMS: Final[Words] = (
    "IBM",
    "NATO",
    "BBC",
    "FBI",
    "Ford",
    "Google",
    "Boeing",
    "Sony",
    "Chelsea",
)

INTERJECTIONS: Final[Words] = ("lol", "omg", "haha", "wow", "yeah", "ugh", "hey", "no")
SLANG: Final[dict[str, str]] = {
    "you": "u", "are": "r", "because": "cuz", "your": "ur", "to": "2", "for": "4", "n't": "nt",
    "about": "bout", "and": "n", "really": "rly", "before": "b4", "tomorrow": "tmrw", "with": "w/",
}  # fmt: skip
