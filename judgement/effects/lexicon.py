"""Words of tool names and descriptions, by what a tool does that is called so.

A *plain* verb is nothing else wherever it stands; a *double* word is a verb only where a verb must
stand (`post_message`), and a thing behind one (`get_post`). Chosen by their meaning in English.
"""

from typing import Final

from pmcl.contracts import Effect

__all__ = [
    "CONJUNCTIONS",
    "DATA_NOUNS",
    "DISPATCH_WORDS",
    "DOUBLE",
    "INSPECTING",
    "MONEY",
    "OWN_PLACE",
    "PHRASAL",
    "PLAIN",
    "PROGRAM_WORDS",
    "SENSING_NOUNS",
    "SENSING_OBJECTS",
    "SENSING_VERBS",
    "WEB_WORDS",
]


def _by_word(table: dict[Effect, str]) -> dict[str, Effect]:
    return {word: effect for effect, words in table.items() for word in words.split()}


INSPECTING: Final = frozenset(
    "analyze calculate check compare compute convert count describe detect diff display estimate "
    "examine exists explain fetch filter find get glob grep has head identify inspect is list "
    "locate lookup look ls measure parse peek predict preview query read recommend retrieve search "
    "show stat status suggest summarize tail think translate validate verify view whoami".split()
)

PLAIN: Final = _by_word(
    {
        "network": "browse crawl curl download navigate ping scrape wget",
        "mutation": (
            "accept add adjust allocate append apply approve arm assign attach ban buy cancel "
            "configure create decline decrease delete deposit destroy detach disable disarm "
            "dismiss disconnect donate drop edit empty enable erase fill generate grant increase "
            "insert install make manage mark migrate mkdir modify mute overwrite pay pin provision "
            "purge put redeem refuel register reject remove rename reopen replace reschedule "
            "reseat reserve reset resize resolve restore revoke rm rmdir rollback save sell swap "
            "toggle truncate unarchive unassign unblock uninstall unlink unlock unmute unpin "
            "unregister unset unsubscribe update upload upsert wipe withdraw write"
        ),
        "communication": ("announce broadcast escalate invite notify publish send submit tell"),
        "execution": (
            "compile delegate deploy eval evaluate exec execute inject invoke kill launch reboot "
            "restart resume shutdown spawn sudo suspend terminate"
        ),
    }
)

DOUBLE: Final = _by_word(
    {
        "network": "request visit pull",
        "mutation": (
            "access archive bet bid block book branch change charge claim clear close commit copy "
            "control draft exchange export flag follow format fork import join label leave like "
            "link lock merge move open order patch place purchase rate refund rent return "
            "review sample schedule set setup sign stake star store subscribe swipe switch sync "
            "tag touch trade transfer trash turn upgrade vote"
        ),
        "communication": (
            "answer call chat comment contact dm email forward mail message post push react reply "
            "report share sms text tweet"
        ),
        "execution": "agent process run start stop task trigger",
    }
)

PROGRAM_WORDS: Final = frozenset(
    "bash cmd command console javascript node perl php powershell python repl ruby script sh "
    "shell ssh terminal zsh".split()
)
"""What executes, unless an inspecting verb stands before it (`get_command_output`)."""

DISPATCH_WORDS: Final = frozenset(
    "action actions batch call calls dispatch execute function functions invoke mcp multi "
    "parallel perform proxy rpc run tool tools use".split()
)
"""A name of these alone hides which tool is really run."""

WEB_WORDS: Final = frozenset(
    "browser dns http https internet online rss url urls web webhook webpage website".split()
)

SENSING_NOUNS: Final = frozenset(
    "camera cameras clipboard geolocation gps keylogger keystroke keystrokes microphone "
    "microphones mic screenshot screenshots sensor sensors webcam webcams".split()
)
SENSING_VERBS: Final = frozenset("capture listen record scan snap take".split())
SENSING_OBJECTS: Final = frozenset("audio image picture photo screen sound video voice".split())
OWN_PLACE: Final = frozenset("current device exact gps live my own phone user".split())
"""Before `location` or `position` they mean: where somebody is now."""

MONEY: Final = frozenset(
    "bitcoin cash crypto currency fund funds money payment payments transaction".split()
)
"""To send one of these changes accounts; it tells nobody anything."""

DATA_NOUNS: Final = frozenset(
    "content contents data detail details document documents file files history info information "
    "log logs profile profiles record records".split()
)
"""What is read when it is *accessed*; a door or a system is not."""

CONJUNCTIONS: Final = frozenset(("and", "or", "then", "also"))
PHRASAL: Final = frozenset((("check", "in"), ("check", "out"), ("look", "after")))
"""An inspecting verb that means something else together with its next word."""
