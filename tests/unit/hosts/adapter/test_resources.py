from pathlib import Path
from typing import Any

import pytest

from pmcl.contracts import ContractError, Resource
from pmcl.hosts import PathError
from pmcl.hosts.adapter import ToolCall, find_resources


def found(cwd: Path | None, **arguments: Any) -> list[tuple[str, str]]:
    call = ToolCall(server="files", name="do", arguments=arguments, cwd=cwd)
    return [(resource.kind, resource.value) for resource in find_resources(call)]


@pytest.mark.parametrize(
    ("arguments", "resource"),
    [
        ({"file_path": "a.txt"}, ("path", "{cwd}/a.txt")),
        ({"path": "/etc/../etc/hosts"}, ("path", "/etc/hosts")),
        ({"directory": "."}, ("path", "{cwd}")),
        ({"to": "./b"}, ("path", "{cwd}/b")),
        ({"uri": "file:///etc/a%20b"}, ("path", "/etc/a b")),
        ({"url": "https://Example.org:8080/x?y"}, ("host", "example.org")),
        ({"url": "example.org/x"}, ("host", "example.org")),
        ({"anything": "https://example.org/"}, ("host", "example.org")),
        ({"to": "amy@example.org"}, ("recipient", "amy@example.org")),
        ({"mail": {"recipients": ["amy", "bob"]}}, ("recipient", "bob")),
        ({"iban": "DE89"}, ("account", "DE89")),
        ({"db": "main"}, ("database", "main")),
        ({"command": "rm x"}, ("path", "{cwd}/x")),
        ({"command": "echo a > ~/x"}, ("path", "{home}/x")),
        ({"command": "curl https://example.org"}, ("host", "example.org")),
        ({"command": "ssh amy@example.org ls"}, ("host", "example.org")),
        ({"command": ["rm", "a b"]}, ("path", "{cwd}/a b")),
        ({"command": "tee", "args": ["a b"]}, ("path", "{cwd}/a b")),
        ({"anything": "/etc/hosts"}, ("path", "/etc/hosts")),
        ({"anything": "~/x"}, ("path", "{home}/x")),
        ({"anything": "a/../../x"}, ("path", "{cwd.parent}/x")),
        ({"anything": ["--out=/etc/hosts"]}, ("path", "/etc/hosts")),
        ({"anything": ["-o/etc/hosts"]}, ("path", "/etc/hosts")),
        ({"edits": {"/etc/hosts": "a"}}, ("path", "/etc/hosts")),
        ({"text_file": "/etc/hosts"}, ("path", "/etc/hosts")),
        ({"path": "https://a/../../etc"}, ("path", "{cwd}/etc")),
        ({"uri": "FILE:/etc/hosts"}, ("path", "/etc/hosts")),
        ({"url": "https:\\\\example.org/x"}, ("host", "example.org")),
    ],
)
def test_an_argument_names_a_resource(
    arguments: dict[str, Any], resource: tuple[str, str], tmp_path: Path
) -> None:
    kind, value = resource
    assert (kind, value.format(cwd=tmp_path, home=Path.home())) in found(tmp_path, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "/etc/passwd"},
        {"file_content": "see https://example.org for it"},
        {"file_id": "12"},
        {"note": "send it to amy"},
        {"text": "../x is a path"},
        {"message": "/etc/hosts"},
        {"anything": "/nowhere-to-be-found/x"},
        {"anything": "and/or, e.g. this"},
        {"path": ""},
        {"count": 3},
    ],
)
def test_data_names_none(arguments: dict[str, Any], tmp_path: Path) -> None:
    assert found(tmp_path, **arguments) == []


def test_a_new_file_under_a_link_lies_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    assert found(tmp_path, path="out/new") == [("path", "/etc/new")]


def test_a_program_elsewhere_is_not_what_a_command_touches(tmp_path: Path) -> None:
    named = found(tmp_path, command="/usr/bin/python3 tools/run.py")
    assert named == [("path", f"{tmp_path}/tools/run.py")]


def test_a_relative_path_without_a_folder_stays_relative() -> None:
    assert found(None, path="a/b") == [("path", "a/b")]


def test_many_paths_count_as_their_parent(tmp_path: Path) -> None:
    assert found(tmp_path, paths=[f"{n}.txt" for n in range(65)]) == [("path", str(tmp_path))]
    assert len(found(tmp_path, paths=[f"{n}.txt" for n in range(64)])) == 64


def test_too_many_others_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"\$.resources is '65 resources'"):
        found(tmp_path, recipients=[f"a{n}@example.org" for n in range(65)])


@pytest.mark.parametrize("path", ["a\0b", "~\0", "~\0/a", "~\ud800"])
def test_a_path_that_cannot_be_resolved_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(PathError):
        found(tmp_path, path=path)


def test_an_overlong_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="allowed: 4096 characters"):
        found(tmp_path, recipient="a" * 5000)


def test_an_overly_nested_argument_is_refused(tmp_path: Path) -> None:
    nested: dict[str, Any] = {"path": "/etc/hosts"}
    for _ in range(30):
        nested = {"a": nested}
    assert found(tmp_path, a=nested) == [("path", "/etc/hosts")]
    with pytest.raises(ContractError, match="allowed: 32 levels"):
        found(tmp_path, a={"a": {"a": nested}})


def test_a_command_that_takes_long_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="allowed: a command that is short to read"):
        found(tmp_path, command="a|" * 2001)


def test_an_address_without_a_host_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="allowed: an address"):
        found(tmp_path, url="https://")


def test_what_the_adapter_knows_is_kept(tmp_path: Path) -> None:
    known = Resource(kind="path", value="/a")
    call = ToolCall(server="s", name="n", arguments={}, resources=(known,))
    assert find_resources(call) == (known,)
