"""Which rule says what, call by call."""

from collections.abc import Callable
from typing import Any

import pytest

from pmcl.contracts import (
    CheckpointRequest,
    Effect,
    Resource,
    ToolAnnotations,
    ToolDefinition,
)
from pmcl.judgement import Classification, EffectRules, ToolRule, classify
from pmcl.judgement.effects.look_alikes import looks_alike

Call = Callable[..., Classification]

ARMENIAN_U = "\u057d"


@pytest.fixture(scope="session")
def call(make_request: Callable[..., CheckpointRequest]) -> Call:
    def classified(
        name: str, arguments: dict[str, Any] | None = None, **changes: Any
    ) -> Classification:
        rules = changes.pop("rules", EffectRules())
        if "description" in changes:
            changes["definition"] = ToolDefinition(description=changes.pop("description"))
        request = make_request(name, arguments=arguments or {}, resources=(), **changes)
        return classify(request, rules)

    return classified


@pytest.mark.parametrize(
    ("name", "description", "effect"),
    [
        # What follows an inspecting verb is its object.
        ("get_post", "", "inspect_local"),
        ("list_scheduled_orders", "", "inspect_local"),
        ("search_messages_and_files", "", "inspect_local"),
        ("get_command_output", "", "inspect_local"),
        # But a plain verb stays one, and `and` asks for another.
        ("get_or_create_user", "", "mutation"),
        ("find_replace", "", "mutation"),
        ("read_and_post", "", "communication"),
        ("list_and_frobnicate", "", "execution"),
        ("check_in", "", "mutation"),
        # An unknown first word may be a subject or a verb: the description tells.
        ("MailboxSearchItems", "", "execution"),
        ("MailboxSearchItems", "Searches the items of a mailbox.", "inspect_local"),
        ("frobnicate_list", "Frobnicates the list", "execution"),
        ("order_status", "Check the status of an order", "inspect_local"),
        ("files_list_all", "", "inspect_local"),  # its server is called `files`
        # A description raises, and it chooses among external effects, but it lowers no further.
        ("get_user", "Deletes the user", "mutation"),
        ("get_user", "Gets the user. Sends a mail to the admin.", "communication"),
        ("get_user", "Gets the user. Send the id in capitals.", "inspect_local"),
        ("list_notes", "List, create, and delete notes.", "mutation"),
        ("acme", "Sends a letter", "communication"),
        ("acme", "Creates a widget", "mutation"),
        ("acme", "Gets a widget", "execution"),
        ("acme", "Navigates to a page", "execution"),
        ("acme", "Runs a program, sends a letter", "execution"),
        (f"get_{ARMENIAN_U}ser", "Gets the user", "execution"),
        (f"{ARMENIAN_U}pdate", "Sends a letter", "execution"),
        # What money and mail have in common is only the verb.
        ("send_money", "", "mutation"),
        ("send_message", "", "communication"),
        ("get_current_location", "", "sensing"),
        ("get_store_location_details", "", "inspect_local"),
        ("record_audio", "", "sensing"),
        ("get_record", "", "inspect_local"),
    ],
)
def test_name_and_description(call: Call, name: str, description: str, effect: Effect) -> None:
    assert call(name, description=description).effect == effect


@pytest.mark.parametrize(
    ("name", "arguments", "effect", "reason"),
    [
        ("Bash", {"command": "ls -la", "description": "x"}, "inspect_local", "shell.inspects"),
        ("Bash", {"command": "r''m -rf /"}, "execution", "shell.not_shown"),
        ("functions.shell", {"command": ["ls"]}, "inspect_local", "shell.inspects"),
        ("shell", {"command": ["ls"], "elevated": "yes"}, "execution", "name.verb"),
        ("shell", {"command": ["ls", 1]}, "execution", "shell.not_shown"),
        ("run_command", {"command": "ls", "cmd": "rm x"}, "execution", "shell.not_shown"),
        ("ssh_run", {"command": "ls"}, "execution", "name.verb"),
        ("read_notes", {"command": "rm x"}, "execution", "shell.not_shown"),
        ("read_notes", {"nested": [{"cmd": "rm x"}]}, "execution", "shell.not_shown"),
        ("python", {"code": "1"}, "execution", "name.verb"),
        ("execute_sql", {"query": "select 1", "database": "d"}, "inspect_local", "sql.inspects"),
        ("execute_sql", {"query": "drop table t"}, "mutation", "sql.not_shown"),
        ("query", {"query": "drop table t"}, "mutation", "sql.not_shown"),
        ("query", {"query": "why is the sky blue"}, "inspect_local", "name.inspects"),
        ("search_mail", {"query": "delete my account"}, "inspect_local", "name.inspects"),
        ("get_page", {"url": "example.org"}, "network", "argument.url"),
        ("get_page", {"source": "https://example.org"}, "network", "argument.url"),
        ("get_page", {"url": "file:///x"}, "inspect_local", "name.inspects"),
        ("http_request", {"url": "x", "method": "get"}, "network", "http.method"),
        ("http_request", {"url": "x", "method": "POST"}, "communication", "http.method"),
        ("http_request", {"url": "x", "method": "DELETE"}, "mutation", "http.method"),
        ("http_request", {"url": "x", "method": "BREW"}, "execution", "http.method"),
        ("http_request", {"url": "x", "body": "secret"}, "communication", "http.body"),
        ("fetch_url", {"url": "x", "files": ["a"]}, "communication", "http.body"),
        (
            "fetch_url",
            {"url": "x", "headers": {"X-HTTP-Method-Override": "DELETE"}},
            "mutation",
            "http.method",
        ),
        ("find_root", {"method": "bisection"}, "inspect_local", "name.inspects"),
        ("list_files", {"output_path": "/x"}, "mutation", "argument.writes_to"),
        ("search_mail", {"delete_after": True}, "mutation", "argument.flag"),
        ("search_mail", {"delete_after": False}, "inspect_local", "name.inspects"),
        ("get_items", {"action": "delete"}, "mutation", "argument.action"),
        ("git_log", {"args": "-c core.pager=evil"}, "execution", "argument.options"),
        ("get_log", {"args": ["--output=x"]}, "execution", "argument.options"),
        ("calculate", {"expression": "2 * (3 + 4)"}, "inspect_local", "name.inspects"),
        ("calculate", {"expression": "open('x')"}, "execution", "argument.expression"),
        (
            "get_items",
            {"a": [[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]},
            "execution",
            "arguments.unread",
        ),
        ("get_items", {"a": list(range(3000))}, "execution", "arguments.unread"),
    ],
)
def test_arguments(
    call: Call, name: str, arguments: dict[str, Any], effect: Effect, reason: str
) -> None:
    found = call(name, arguments)
    assert (found.effect, reason in found.reasons) == (effect, True)


READS = {"tool": "read_file", "args": {}}
TWO_COMMANDS = '{"command": "rm x", "command": "ls"}'


@pytest.mark.parametrize(
    ("name", "arguments", "effect"),
    [
        ("call_tool", {"name": "read_file", "arguments": {"path": "x"}}, "inspect_local"),
        ("call_tool", {"name": "delete_file", "arguments": {}}, "mutation"),
        ("call_tool", {"name": "bash", "arguments": '{"command": "rm x"}'}, "execution"),
        ("call_tool", {"name": "bash", "arguments": '{"command": "ls"}'}, "inspect_local"),
        ("call_tool", {"name": "read_file"}, "execution"),
        ("call_tool", {"name": f"{ARMENIAN_U}ser", "arguments": {}}, "execution"),
        ("invoke", {"anything": 1}, "execution"),
        ("run_tool", {"tool": {"name": "send_mail", "args": {}}}, "communication"),
        (
            "batch",
            {"calls": [{"tool": "read_file", "args": {}}, {"tool": "send_mail", "args": {}}]},
            "communication",
        ),
        (
            "multi_tool_use.parallel",
            {"tool_uses": [{"recipient_name": "functions.read_file", "parameters": {}}]},
            "inspect_local",
        ),
        (
            "call_tool",
            {"name": "call_tool", "arguments": {"name": "send_mail", "arguments": {}}},
            "communication",
        ),
        ("batch", {"calls": [{"tool": "read_file", "args": {}}] * 65}, "execution"),
        # What its tool may read otherwise than we do is hidden, also beside a call that is not.
        ("call_tool", {"name": "bash", "arguments": TWO_COMMANDS}, "execution"),
        ("get_result", {"tool": "bash", "arguments": TWO_COMMANDS}, "execution"),
        ("batch", {"calls": [READS, {"tool": "bash", "args": TWO_COMMANDS}]}, "execution"),
        ("batch", {"calls": [READS, {"tool": "bash", "args": "{'command': 'rm x'}"}]}, "execution"),
        ("batch", {"calls": [READS, {"tool": "bash", "args": "rm x"}]}, "execution"),
        ("batch", {"calls": [READS, {"name": "bash", "args": ["rm", "x"]}]}, "execution"),
        ("batch", {"calls": [READS, {"tool": "shut_down"}]}, "execution"),
        (
            "batch",
            {"name": "my reads", "calls": [READS], "options": {"name": "x"}},
            "inspect_local",
        ),
        ("batch", {"tool": "group", "calls": [READS]}, "inspect_local"),
        ("get_weather", {"name": "Berlin", "input": "tomorrow"}, "inspect_local"),
        ("get_result", {"tool": "delete_file", "arguments": {}}, "mutation"),
        # A setting of the call itself is no other call.
        ("create_widget", {"name": "blue", "parameters": {}}, "mutation"),
    ],
)
def test_dispatched_call_counts_and_the_riskiest_wins(
    call: Call, name: str, arguments: dict[str, Any], effect: Effect
) -> None:
    assert call(name, arguments).effect == effect


def test_dispatched_calls_nested_too_deep_are_an_execution(call: Call) -> None:
    arguments: dict[str, Any] = {"name": "read_file", "arguments": {}}
    for _ in range(6):
        arguments = {"name": "call_tool", "arguments": arguments}
    assert call("call_tool", arguments).effect == "execution"


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        (ToolAnnotations(read_only=True, destructive=False, open_world=False), "inspect_local"),
        (ToolAnnotations(read_only=False), "mutation"),
        (ToolAnnotations(destructive=True), "mutation"),
        (ToolAnnotations(open_world=True), "network"),
    ],
)
def test_annotations_only_raise(call: Call, hints: ToolAnnotations, effect: Effect) -> None:
    definition = ToolDefinition(annotations=hints)
    assert call("read_file", definition=definition).effect == effect
    assert call("delete_file", definition=definition).effect == "mutation"
    assert call("frobnicate", definition=definition).effect == "execution"


def test_flag_that_the_schema_sets_counts_until_it_is_unset(call: Call) -> None:
    schema = {"properties": {"delete_after": {"type": "boolean", "default": True}}}
    definition = ToolDefinition(parameters=schema)
    assert call("read_mail", definition=definition).effect == "mutation"
    unset = call("read_mail", {"delete_after": False}, definition=definition)
    assert unset.effect == "inspect_local"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user@example.org", False),
        (f"{ARMENIAN_U}ser@example.org", True),
        ("p\u0430ypal", True),  # Cyrillic a
        ("\u0430\u043e\u0440", True),  # all Cyrillic, all look-alikes
        ("\u043c\u043e\u0441\u043a\u0432\u0430", False),  # Moscow
        ("/home/\u0434\u043e\u043c/notes.txt", False),
        ("caf\u00e9", False),
        ("\u6771\u4eac.txt", False),
        ("\uff52\uff4d", False),  # full width is folded, not foreign
    ],
)
def test_look_alike_is_told_from_a_foreign_word(text: str, expected: bool) -> None:  # noqa: FBT001
    assert looks_alike(text) is expected


def test_resource_that_looks_like_another_is_an_execution(
    make_request: Callable[..., CheckpointRequest],
) -> None:
    for value, effect in (("amy", "inspect_local"), ("\u0430my", "execution")):
        resources = (Resource(kind="recipient", value=value),)
        request = make_request("read_mail", resources=resources, arguments={})
        assert classify(request, EffectRules()).effect == effect


def test_operator_says_what_an_argument_holds(call: Call) -> None:
    rule = ToolRule(arguments={"q": "sql", "note": "data"})
    rules = EffectRules(tools={"files/lookup": rule})
    assert call("lookup", {"q": "drop table t"}, rules=rules).effect == "mutation"
    shown = call("lookup", {"q": "select 1", "note": "https://x"}, rules=rules)
    assert shown.effect == "inspect_local"
    told = EffectRules(tools={"files/acme": ToolRule(arguments={"q": "shell"})})
    assert call("acme", {"q": "ls"}, rules=told).effect == "inspect_local"


def test_operator_rules_a_dispatched_call(
    call: Call, make_request: Callable[..., CheckpointRequest]
) -> None:
    rules = EffectRules(
        tools={"files/acme": ToolRule(effect="network", reversibility="reversible")}
    )
    arguments = {"name": "acme", "arguments": {}}
    about = rules.about(make_request("call_tool", arguments=arguments))
    assert about == rules
    assert call("call_tool", arguments, rules=about).effect == "network"
    other = {"name": "acme", "server": "other", "arguments": {}}
    assert rules.about(make_request("call_tool", arguments=other)) == EffectRules()


def test_operator_sets_reversibility_but_never_below_a_claim(call: Call) -> None:
    rules = EffectRules(
        tools={"files/acme": ToolRule(effect="mutation", reversibility="reversible")}
    )
    assert call("acme", rules=rules).reversibility == "reversible"
    claimed = call("acme", rules=rules, reversibility="irreversible")
    assert claimed.reversibility == "irreversible"
    raised = call("acme", rules=rules, effect="communication")
    assert (raised.effect, raised.reversibility) == ("communication", "irreversible")
