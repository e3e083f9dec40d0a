"""Words as evidence compares them: inflection, number words, units and a few everyday synonyms made one."""

from __future__ import annotations

from functools import lru_cache

from ..text import COMMON_WORDS, STOP_WORDS, stemmed

# Each line is one word to us: forms that no stemmer joins, people and their countries, words that models swap freely.
_SAME = """
be been being
begin began begun beginning
become became becoming
born birth birthplace birthday
break broke broken
bring brought
build built building
buy bought
choose chose chosen choice
come came
die died death dead dying
do did done
draw drew drawn
drive drove driven
eat ate eaten
fall fell fallen
fight fought
find found founded founder founding
fly flew flown flight
get got gotten
give gave given
go went gone
grow grew grown growth
hold held
keep kept
know knew known
lead led leader leading
leave left
lose lost loss
make made making maker
marry married marriage wife husband spouse wed wedding
meet met
pay paid
play played player
rise rose risen
run ran
see saw seen
sell sold sale
send sent
sing sang sung singer
speak spoke spoken speaker
spend spent
stand stood
take took taken
teach taught teacher
tell told
think thought
wear wore worn
win won winner
write wrote written writer writing author authored
film movie motion-picture
actor actress act acted acting
locate located location situated lies
release released published publish issued
create created creator invented inventor devised
child children son daughter
man men
woman women
person people
foot feet
city town
job career profession occupation
tv television
show series
large largest big biggest
high highest tall tallest height
long longest length
weigh weight
deep deepest depth
wide widest width
old oldest age aged
usa us america american united-states
uk britain british
england english
france french
spain spanish
ireland irish
china chinese
greece greek
denmark danish
sweden swedish
poland polish
finland finnish
turkey turkish
scotland scottish
wales welsh
netherlands dutch
switzerland swiss
norway norwegian
kg kilogram kilograms kilogramme kilogrammes kilo
g gram grams
km kilometre kilometres kilometer kilometers
m metre metres meter meters
cm centimetre centimetres centimeter centimeters
mm millimetre millimetres millimeter millimeters
lb lbs pound pounds
ft
mi mile miles
mph
h hour hours
min minute minutes
percent percentage
january jan
february feb
september sept
october oct
november nov
december dec
2 two second twice 2nd
3 three third thrice 3rd
4 four fourth 4th
5 five fifth 5th
6 six sixth 6th
7 seven seventh 7th
8 eight eighth 8th
9 nine ninth 9th
10 ten tenth 10th
11 eleven eleventh 11th
12 twelve twelfth 12th
20 twenty
30 thirty
40 forty
50 fifty
100 hundred
1000 thousand
first 1st
"""
_CANONICAL = {word: line.split()[0] for line in _SAME.splitlines() for word in line.split()}

MONTHS = frozenset("january february march april may june july august september october november december".split())

# Of the answer about itself, or too vague to be looked for: not counted.
EMPTY = frozenset(
    """article articles wikipedia text passage passages source sources section page excerpt snippet document documents
    according based provided information mentioned mentions states stated says said note noted summary answer question
    following above below called named known thing things also well here there however therefore thus furthermore
    additionally moreover overall finally specifically exactly approximately roughly around nearly almost currently
    today etc e.g i.e quote quoted quotes quotation""".split()
)
# Verbs and nouns that say little: counted, but lightly.
LIGHT = frozenset(
    """be have do make take give get go come use include feature involve appear work play serve become contain
    consist hold see know call consider regard refer locate create type kind form part member number amount group
    example place way name time person one several many various different certain such called considered""".split()
)

NEGATIONS = frozenset(
    """not no never none nothing nobody nowhere neither nor without cannot t unable incapable failed fails refused
    refuses denied denies lacked lacks lacking avoided avoids yet hardly
    nicht kein keine keinen keiner keines nie niemals ohne pas jamais aucun aucune sans sin nunca ninguno ninguna jamás
    non mai senza não nenhum nenhuma sem niet geen nooit zonder не нет ни никогда без لا لم لن ليس ليست بدون""".split()
)
CJK_NEGATIONS = ("不", "没", "沒", "无", "無", "未", "ない", "ません", "않", "없")
LIMITS = frozenset(
    "only solely exclusively merely entirely completely always nur seulement solo solamente только".split()
)
BEGINNING = 4  # letters


def common_words(language: str) -> frozenset[str]:
    """The words of a language that say nothing about a subject."""
    return COMMON_WORDS.get(language, STOP_WORDS) if language != "en" else STOP_WORDS


@lru_cache(maxsize=200_000)
def form(word: str, language: str) -> str:
    """One of `folded_words` as evidence compares it.

    >>> form("wrote", "en") == form("written", "en"), form("seventh", ""), form("kilograms", "en")
    (True, '7', 'kg')
    """
    if language in ("", "en"):
        word = _CANONICAL.get(word, word)
    return stemmed(word, language)


def alike(one: str, other: str) -> bool:
    """Whether two forms are one word with different endings.

    >>> alike("german", "germani"), alike("austria", "australia"), alike("1914", "19145")
    (True, False, False)
    """
    shorter = min(len(one), len(other))
    if shorter < 5 or one[:BEGINNING] != other[:BEGINNING] or not (one.isalpha() and other.isalpha()):
        return False
    most = max(BEGINNING, shorter - 1)
    return one[:most] == other[:most] and abs(len(one) - len(other)) < 5
