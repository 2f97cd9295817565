import pytest
from starlette.datastructures import Headers

from pmcl.ops.dashboard.access import Doorkeeper, PageRefusedError, Session

PORT = 4711
OWN = {"host": f"127.0.0.1:{PORT}"}
ORIGIN = {"origin": f"http://127.0.0.1:{PORT}"}


@pytest.fixture
def door() -> Doorkeeper:
    return Doorkeeper(PORT)


def token_of(door: Doorkeeper) -> str:
    return door.link.rpartition("token=")[2]


def test_token_opens_a_session_that_its_cookie_finds(door: Doorkeeper) -> None:
    cookie = door.enter(token_of(door))
    assert door.session(cookie) is door.session(cookie)
    assert cookie not in door.link


@pytest.mark.parametrize("given", ["", "wrong", "é"])
def test_another_token_opens_nothing(door: Doorkeeper, given: str) -> None:
    with pytest.raises(PageRefusedError) as refused:
        door.enter(given)
    assert refused.value.status == 403


@pytest.mark.parametrize("given", [None, "", "wrong"])
def test_another_cookie_finds_nothing(door: Doorkeeper, given: str | None) -> None:
    door.enter(token_of(door))
    with pytest.raises(PageRefusedError) as refused:
        door.session(given)
    assert refused.value.status == 401


def test_token_is_no_cookie(door: Doorkeeper) -> None:
    with pytest.raises(PageRefusedError):
        door.session(token_of(door))


def test_two_dashboards_share_no_secret() -> None:
    one, other = Doorkeeper(PORT), Doorkeeper(PORT)
    assert one.path != other.path
    assert token_of(one) != token_of(other)


def test_oldest_session_ends_when_there_are_too_many(door: Doorkeeper) -> None:
    cookies = [door.enter(token_of(door)) for _ in range(17)]
    with pytest.raises(PageRefusedError):
        door.session(cookies[0])
    for cookie in cookies[1:]:
        door.session(cookie)


def test_form_of_another_session_is_refused() -> None:
    session = Session()
    session.check_form(session.form_token)
    for given in ("", Session().form_token):
        with pytest.raises(PageRefusedError) as refused:
            session.check_form(given)
        assert refused.value.status == 403


def test_what_is_told_is_told_once() -> None:
    session = Session()
    session.told.append("done")
    assert (session.take_told(), session.take_told()) == (["done"], [])


_TAKEN = [
    ("GET", OWN),
    ("GET", {"host": f"localhost:{PORT}"}),
    ("GET", OWN | {"sec-fetch-site": "none"}),
    ("GET", OWN | ORIGIN | {"sec-fetch-site": "same-origin"}),
    ("POST", OWN | ORIGIN),
    ("POST", {"host": f"localhost:{PORT}", "origin": f"http://localhost:{PORT}"}),
]
_REFUSED = [
    (421, "GET", {}),
    (421, "GET", {"host": "127.0.0.1"}),
    (421, "GET", {"host": f"pmcl.example:{PORT}"}),
    (421, "POST", ORIGIN | {"host": f"127.0.0.1.example:{PORT}"}),
    (403, "GET", OWN | {"sec-fetch-site": "cross-site"}),
    (403, "GET", OWN | {"sec-fetch-site": "same-site"}),  # another port of this machine
    (403, "GET", OWN | {"origin": "https://pmcl.example"}),
    (403, "POST", OWN),
    (403, "POST", OWN | {"origin": "null"}),
    (403, "POST", OWN | {"origin": "http://127.0.0.1:80"}),
    (403, "POST", OWN | {"origin": f"http://localhost:{PORT}"}),
    (403, "POST", OWN | {"origin": f"https://127.0.0.1:{PORT}"}),
    (403, "POST", OWN | ORIGIN | {"sec-fetch-site": "same-site"}),
]


@pytest.mark.parametrize(("method", "headers"), _TAKEN)
def test_own_pages_are_answered(door: Doorkeeper, method: str, headers: dict[str, str]) -> None:
    door.check_source(Headers(headers), method)


@pytest.mark.parametrize(("status", "method", "headers"), _REFUSED)
def test_what_another_site_could_send_is_refused(
    door: Doorkeeper, status: int, method: str, headers: dict[str, str]
) -> None:
    with pytest.raises(PageRefusedError) as refused:
        door.check_source(Headers(headers), method)
    assert refused.value.status == status
