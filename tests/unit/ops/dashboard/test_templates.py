import re

import pytest
from jinja2 import UndefinedError

from pmcl.ops.dashboard.templates import STATIC, environment

HOSTILE = """<script>x</script>"'&"""


def test_whatever_is_given_is_escaped() -> None:
    made = environment().get_template("bare.html").render(error=HOSTILE, styled=False)
    assert "&lt;script&gt;x&lt;/script&gt;&#34;&#39;&amp;" in made
    assert "<script>" not in made


def test_an_undefined_name_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().get_template("bare.html").render(styled=False)


def test_nobody_without_a_session_is_told_our_path() -> None:
    template = environment().get_template("bare.html")
    assert "/secret" not in template.render(error="no", styled=False, base="/secret")


def test_no_template_says_a_style_a_script_or_that_something_is_safe() -> None:
    templates = environment()
    assert templates.loader is not None
    for name in templates.list_templates():
        source, _, _ = templates.loader.get_source(templates, name)
        assert not re.search(r"<style|style=|\son[a-z]+=|javascript:|\|\s*safe", source), name
        assert not re.search(r"<script(?! src=)", source), name
        assert not re.search(r"(src|href)=\"(?!{{ base }}/static/|{{ base }}|#main)", source), name


def test_what_is_loaded_names_nobody_else() -> None:
    for name, static in STATIC.items():
        for address in re.findall(rb"https?://[^\"' ]+", static.content):
            assert address == b"http://www.w3.org/2000/svg", name
        assert b"innerHTML" not in static.content
