"""A token whose issuer begins it with letters of its own is found by them, and to its last letter.

Only prefixes of credentials stand here: those of ids (`cus_`, `toolu_`, `AC`), of public keys
(`pk_`, `phc_`) and of client ids do not. What follows must be long, so that words stay.

Source: the issuers' documentation of their token formats.
"""

import re
from typing import Final

__all__ = ["PREFIXED", "PREFIX_LITERALS", "PREFIX_RUN"]

_NOTHING_ELSE: Final = (
    "ghp gho ghs ghu ghr sk_live sk_test sk_prod rk_live rk_test shpat shpss shpca shppa dop_v1"
).split()
_ALSO_WORDS: Final = (
    "npm hf gsk whsec doo_v1 dor_v1 sk sk_car ntn secret_v1 lin_api lin_oauth glsa glc figd "
    "lsv2_pt lsv2_sk pcsk tgp_v1 wandb_v1 rdme napi sntryu sntrys rubygems r8 vck vca vcr vci vcp "
    "dckr_oat apify_api sbp sb_secret essu os_v2_app os_v2_org shippo_live shippo_test AIK_CI "
    "AIK_SECRET CCIPAT CLOJARS CCDB1 duffel_live duffel_test bkua bkaa bkaj cfut cfat ddp api_org "
    "xnd_production zpka rootly samsara_api ucat unkey waka phx pnu nyk ramp_sec sgp pina vtwn rpa "
    "api_live FLWSECK_TEST"
).split()
_HYPHENATED: Final = "PMAK HRKU tskey SWMTKN".split()
_GLUED: Final = ("LTAI", "AKCp", "ATATT3", "ABSK", "EZAK", "GR1348941")
# In the middle of a prefix these words say that a credential follows, whoever issued it.
_CREDENTIALS: Final = "pat sk secret tkn token apikey oauth pw oat".split()

_begins = r"(?=[A-Za-z0-9]{16})"
_run = r"[A-Za-z0-9_-]{16,}+(?:[.=+/][A-Za-z0-9_-]++)*+=*+"
# No word: letters and digits, or small and capital letters.
_random = r"""(?: (?=[A-Za-z_-]{0,32}\d)(?=[\d_-]{0,32}[A-Za-z])
    | (?=[a-z0-9_-]{0,32}[A-Z])(?=[A-Z0-9_-]{0,32}[a-z]) )"""


def _either(words: list[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


PREFIXED: Final = rf"""(?:
      (?:{_either(_NOTHING_ELSE)})_{_begins}{_run}
    | (?:{_either(_ALSO_WORDS)})_{_begins}{_random}{_run}
    | (?:{_either(_HYPHENATED)})-{_random}{_run}
    | (?:{_either([*_GLUED])}){_random}{_run}
    | [A-Za-z][A-Za-z0-9]{{1,24}}_(?:{_either(_CREDENTIALS)})_{_begins}{_random}{_run}
    | ops_eyJ{_run}
    | re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24,}}+
    | [A-Za-z0-9_~.]{{3}}\dQ~[A-Za-z0-9_~.-]{{31,}}+
    )"""
"""A verbose pattern; a boundary on its left is left to whoever uses it."""
PREFIX_LITERALS: Final = (*_GLUED, *[f"{prefix}-" for prefix in _HYPHENATED], "Q~")
PREFIX_RUN: Final = re.compile("_[A-Za-z0-9]{16}")
"""A text that holds a prefixed token matches this, or holds one of the literals."""
