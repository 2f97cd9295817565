"""General English for what people ask for: verbs and nouns sorted into kinds.

It knows no tool, no product and no task. A word may stand in several kinds, since people mean
several things by it; a kind is only ever compared with a kind.
"""

from functools import lru_cache
from typing import Final

__all__ = ["AUXILIARIES", "FUNCTION_WORDS", "NOUNS_TOO", "is_verb", "objects_of", "verbs_of"]

_VERBS: Final[dict[str, str]] = {
    "pay": (
        "bet buy charge compensate deposit donate exchange fund order "
        "pay purchase redeem refund reimburse remit repay sell "
        "settle spend subscribe tip top trade transfer wire withdraw "
        "return invest"
    ),
    "send": (
        "announce answer apologize ask broadcast call chat comment communicate "
        "congratulate contact deliver dispatch dm email forward inform invite "
        "let mail message notify ping post publish react recommend remind "
        "reply report request respond send share submit tell text thank tweet upload "
        "warn wish write"
    ),
    "create": (
        "add append arrange attach attend block book bookmark build compose copy create "
        "draft establish file generate get give grant hire include insert install issue "
        "join launch log make memorize note open order organize plan prepare provide purchase put "
        "record register remember reserve rate review save schedule set setup sign start store "
        "subscribe upload vote write place fly travel stay assign enroll enrol apply produce"
    ),
    "change": (
        "accept activate add adjust alter amend append apply approve archive assign change "
        "configure convert correct customize deactivate decrease delay disable downgrade edit "
        "enable exchange extend fix follow improve increase install label limit lock lower manage "
        "mark merge modify mount move mute optimize pause pin postpone prevent "
        "process push put raise reboot rebook reconfigure recover reduce refuel refill refresh "
        "regulate remove rename reorganize repair replace rephrase reschedule reset resolve "
        "restart restore resume return revert rewrite set shorten solve star stop suspend swap "
        "switch sync toggle transfer translate troubleshoot turn undo unlock unmute unpin update "
        "upgrade upsize use work reassign reject refactor implement clean convert control "
        "tidy simplify streamline polish shrink split extract inline deduplicate "
        "adopt blend combine embed employ incorporate inject integrate introduce leverage utilize "
        "bisect rebase squash stash"
    ),
    "delete": (
        "abort block cancel clear close deactivate decline delete disable "
        "discard dismiss drop eliminate empty end erase expire exclude kick leave purge reject "
        "remove revoke return stop terminate trash undo uninstall unfollow unsubscribe "
        "wipe"
    ),
    "grant": (
        "accept access admit allow approve assign authorize enable give grant invite join let "
        "permit provide share subscribe unlock whitelist add"
    ),
    "run": (
        "build check compile debug deploy evaluate execute fix format implement install invoke "
        "launch lint perform refactor restart run solve start test train trigger try use validate "
        "verify write benchmark profile migrate commit push merge"
    ),
    "visit": (
        "access browse check compare crawl download explore fetch find get go google load look "
        "navigate open pull read research retrieve scrape search see show summarize summary view "
        "visit watch learn"
    ),
    "sense": (
        "capture detect film geolocate listen locate measure monitor photograph record scan sense "
        "track watch where see find show get look check"
    ),
}

_NAMED_ACTIONS: Final[dict[str, str]] = {
    "pay": (
        "compensation donation gift payment payout reimbursement subscription transaction "
        "withdrawal"
    ),
    "send": "announcement feedback invitation notification reminder response",
    "create": "booking creation reservation",
    "change": "correction modification",
    "delete": "cancellation deletion removal",
}

_OBJECTS: Final[dict[str, str]] = {
    "money": (
        "amount balance bank bill bitcoin budget cash certificate charge cheque coin compensation "
        "cost credit crypto currency debt deposit difference dollar donation euro expense fee "
        "fund holding iban invoice loan money mortgage order payment payee pound premium price "
        "purchase recipient refund rent salary share stock subscription tax tip transaction "
        "transfer tuition voucher wage wallet"
    ),
    "message": (
        "announcement answer article body chat comment congrats contact content conversation "
        "direct dm draft email everybody everyone feedback greeting hobby inbox info information "
        "invitation letter link list mail message news newsletter note notification post reaction "
        "reminder reply report response review sms summary survey text thread tweet update slack"
    ),
    "calendar": (
        "agenda appointment attendee availability breakfast brunch calendar call date day dinner "
        "event guest interview lunch meeting participant party reminder schedule session slot "
        "sync time timetable vacation visit week monday tuesday wednesday thursday friday saturday "
        "sunday tomorrow tonight weekend hour noon evening morning afternoon"
    ),
    "file": (
        "archive attachment backup config configuration content copy csv data dataset directory "
        "doc document drive file folder image list log note notebook page paper patch pdf photo "
        "picture presentation record report sheet slide spreadsheet text txt upload video "
        "workspace word"
    ),
    "group": (
        "channel colleague group guest list member membership organization participant people "
        "person project role room slack space team user workspace friend invitation"
    ),
    "account": (
        "account address bio birthday city contact country data detail email info information "
        "location name number phone preference profile setting settings street user username zip"
    ),
    "secret": (
        "2fa access authentication authenticator code credential factor identity key login "
        "passcode passphrase password pin secret security token"
    ),
    "travel": (
        "accommodation airbnb airline airport apartment arrival bag baggage booking bus cabin car "
        "class companion cruise departure destination economy business fare ferry flight "
        "holiday hostel hotel insurance itinerary luggage nonstop passenger rental reservation "
        "restaurant ride room seat stay suitcase table taxi ticket tour train trip voyage"
    ),
    "goods": (
        "address basket book brand cart delivery device exchange gift goods item laptop "
        "merchandise order package parcel payment product purchase return shipment shipping shoe "
        "shirt size store variant warranty"
    ),
    "code": (
        "api branch bug build class code command commit container cron database decorator "
        "dependency environment error function hook issue library method module package patch "
        "pipeline project program pull query repo repository script server shell table test unit "
        "version"
    ),
    "device": (
        "airplane alarm apn bluetooth bulb camera connection data device door garage heater home "
        "internet lamp light line lock mms mobile mode network oven phone plan roaming robot "
        "router service sim signal smart sms speaker speed thermostat traffic tv usage vacuum "
        "vpn wifi"
    ),
    "web": (
        "article blog content domain http https internet link news page portal recipe site url "
        "web webpage website www"
    ),
    "health": (
        "allergy clinic condition diagnosis doctor drug health hospital medication medicine "
        "patient prescription record symptom therapy treatment vaccine"
    ),
    "policy": ("blacklist domain filter firewall limit policy permission rule threshold whitelist"),
    "task": "assignment checklist goal issue job project task ticket todo reminder deadline",
    "place": "address city coordinate gps location map place position route whereabouts",
    "media": "audio camera clip film image microphone movie music photo picture playlist recording "
    "screen screenshot song sound video voice webcam",
}

AUXILIARIES: Final = frozenset(
    "am are be been being can could did do does had has have is may might must need ought shall "
    "should was were will would".split()
)

FUNCTION_WORDS: Final = frozenset(
    "and are can could did does for from have how my of please should that the their this to what "
    "when where which who whose why with would you your".split()
)
"""Hardly a sentence of English does without one of them, and few others have them."""

NOUNS_TOO: Final = frozenset(
    "address answer block bookmark broadcast call charge chat code comment contact copy cost deal "
    "deposit email emails exchange film fund group guest issue issues label limit list lock log "
    "mail mark message messages note notes number order orders pin place post posts purchase "
    "question reply report reports request requests response return review reviews rate "
    "schedule share shares sms star stock store text texts top trade transfer tweet tweets update "
    "updates upload upgrade use visit watch work record records file files".split()
)
"""Words that are verbs only where a verb stands."""


def _index(kinds: dict[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for kind, words in kinds.items():
        for word in words.split():
            found.setdefault(word, []).append(kind)
    return {word: tuple(dict.fromkeys(kinds)) for word, kinds in found.items()}


_verb_kinds = _index(_VERBS)
_action_kinds = {**_index(_NAMED_ACTIONS), **_verb_kinds}
_object_kinds = _index(_OBJECTS)


@lru_cache(maxsize=8192)
def verbs_of(word: str) -> tuple[str, ...]:
    """Return the kinds of action a lower-case word may ask for, in any inflection."""
    return _first(word, _action_kinds)


@lru_cache(maxsize=8192)
def objects_of(word: str) -> tuple[str, ...]:
    """Return the kinds of thing a lower-case word may name, in any inflection."""
    return _first(word, _object_kinds)


def is_verb(word: str) -> bool:
    """Return whether a lower-case word, as it stands, asks for something."""
    return word in _verb_kinds


def _first(word: str, index: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return next((index[stem] for stem in _stems(word) if stem in index), ())


def _stems(word: str) -> list[str]:
    stems = [word]
    if word.endswith("ies"):
        stems.append(word[:-3] + "y")
    for ending in ("s", "es", "d", "ed", "ing", "er", "or"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            stems += [stem, stem + "e"]
            if len(stem) > 2 and stem[-1] == stem[-2]:
                stems.append(stem[:-1])
    if word.endswith("ied"):
        stems.append(word[:-3] + "y")
    return stems
