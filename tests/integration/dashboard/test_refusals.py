"""Who has no session is shown nothing, and nothing is done that its own page did not send."""

import re

import pytest

from pmcl.ops.dashboard import DashboardError, run_dashboard
from pmcl.ops.dashboard.routes import ROUTES
from pmcl.ops.stopping import stop
from tests.integration.dashboard.browsing import Browsing, browsing
from tests.integration.sidecar.room import Room

pytestmark = pytest.mark.anyio

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


async def is_stopped(room: Room) -> bool:
    return (await stop(room.settings, dry_run=True)).stopped


async def test_link_is_exchanged_for_a_cookie_that_only_our_path_is_shown(link: str) -> None:
    async with browsing(link) as page:
        entered = await page.enter()
        assert entered.status_code == 303
        assert entered.headers["location"] == f"{page.base}/"
        cookie = entered.headers["set-cookie"]
        assert re.fullmatch(
            rf"pmcl=[\w-]{{43}}; HttpOnly; Path={page.base}/; SameSite=strict", cookie
        )
        assert (await page.get("/")).status_code == 200


async def test_wrong_token_opens_nothing(link: str) -> None:
    async with browsing(link[:-1] + ("a" if link[-1] != "a" else "b")) as page:
        entered = await page.enter()
        assert (entered.status_code, "set-cookie" in entered.headers) == (403, False)
        assert (await page.get("/")).status_code == 401


async def test_without_a_session_no_page_and_no_event_is_shown(link: str, room: Room) -> None:
    async with browsing(link) as stranger:
        for method, path, _ in ROUTES:
            url = stranger.base + path.replace("{named}", "1")
            headers = {"origin": stranger.origin} if method == "POST" else {}
            answer = await stranger.client.request(method, url, headers=headers)
            assert answer.status_code == 401, (method, path)
            assert str(room.settings.state_dir) not in answer.text
        assert (await stranger.get("/events?after=0")).status_code == 401


async def test_outside_of_the_path_nobody_learns_it(link: str) -> None:
    async with browsing(link) as stranger:
        for path in ("/", "/enter", "/static/page.css", f"{stranger.base}x/"):
            answer = await stranger.client.get(path)
            assert answer.status_code == 404
            assert stranger.base.encode() + b"/" not in answer.content


async def test_form_of_another_page_does_nothing(page: Browsing, room: Room) -> None:
    _, fields = await page.form("/stop")
    token = fields["form_token"]
    refused = [
        await page.post("/stop", {"form": token}),
        await page.post("/stop", {"form_token": "x" * len(token)}),
        await page.post("/stop", fields, origin="https://pmcl.example"),
        await page.post("/stop", fields, origin="null"),
        await page.post("/stop", fields, **{"sec-fetch-site": "same-site"}),
        await page.client.post(f"{page.base}/stop", data=fields),
    ]
    assert [answer.status_code for answer in refused] == [403] * 6
    assert (await page.post("/stop", fields, host="pmcl.example")).status_code == 421
    body = {"form_token": token, "more": "x" * 4096}
    assert (await page.post("/stop", body)).status_code == 413
    headers = {"origin": page.origin, "content-type": "text/plain"}
    text = f"form_token={token}"
    plain = await page.client.post(f"{page.base}/stop", content=text, headers=headers)
    assert plain.status_code == 415
    assert (await page.get(f"/stop?form_token={token}")).status_code == 200
    assert not await is_stopped(room)


async def test_form_token_of_one_session_is_worth_nothing_in_another(
    page: Browsing, link: str, room: Room
) -> None:
    _, fields = await page.form("/stop")
    async with browsing(link) as other:
        await other.enter()
        assert (await other.post("/stop", fields)).status_code == 403
    assert not await is_stopped(room)


async def test_every_answer_forbids_what_is_not_served_here(page: Browsing) -> None:
    answers = [
        await page.get("/"),
        await page.get("/static/page.js"),
        await page.get("/nowhere"),
        await page.get("/events?after=x"),
        await page.client.get("/"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 400, 404]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answers[0].headers["cache-control"] == "no-store"


async def test_port_in_use_is_said(room: Room, link: str) -> None:
    port = int(link.split(":")[2].partition("/")[0])
    settings = type(room.settings)(state_dir=room.settings.state_dir, dashboard_port=port)
    with pytest.raises(DashboardError, match=f"port {port} .* dashboard_port"):
        async with run_dashboard(settings):
            pass


async def test_no_secret_is_logged(
    page: Browsing, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await page.get("/")
    await page.get("/nowhere")
    printed = "".join(capsys.readouterr())
    assert link.rpartition("token=")[2] not in printed
    assert page.base not in printed
