import pytest

from pmcl.judgement.effects.sql import SQL_MAX_CHARS, sql_effect


@pytest.mark.parametrize(
    "query",
    [
        "select 1",
        "SELECT count(*) FROM t WHERE a = 'b;c' ORDER BY 1 LIMIT 3;",
        "select a from t union all select b from u",
        "with recursive t as (select 1) select * from t",
        "select case when a then b end, cast(a as int) from (select 1) t",
        "select strftime('%Y', d), replace(a, b, c) from t -- a note",
        "values (1)",
        "explain query plan select 1",
        "show tables",
        "describe t",
        "pragma table_info('t')",
    ],
)
def test_read_is_shown(query: str) -> None:
    assert sql_effect(query) == "inspect_local"


@pytest.mark.parametrize(
    "query",
    [
        "insert into t values (1)",
        "update t set a = 1",
        "delete from t",
        "drop table t",
        "create table t (a int)",
        "alter table t add b int",
        "select 1; drop table t",
        "select 1 -- x\n; delete from t",
        "with d as (delete from t returning *) select * from d",
        "with x as (select 1) insert into t select * from x",
        "select * into u from t",
        "select * from t for update",
        "explain delete from t",
    ],
)
def test_write_is_a_mutation(query: str) -> None:
    assert sql_effect(query) == "mutation"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "selec 1",
        "pragma writable_schema = 1",
        "pragma journal_mode(off)",
        "attach 'x' as y",
        "select load_extension('x')",
        "select pg_sleep(1)",
        "select * from pg_read_file('x')",
        "insert into t select setval('s', 1)",
        "copy t to program 'sh'",
        "select 1 into outfile '/x'",
        "explain analyze delete from t",
        "do $$ begin end $$",
        "exec xp_cmdshell 'x'",
        "call f()",
        "vacuum",
        "select * from read_csv('x')",
        "select * from 'https://example.org/x.csv'",
        "select next value for s",
        "begin; select 1; commit",
        # What one dialect skips and another one runs.
        "select 1 /*!50000 ; drop table t */",
        "select 1 /* a /* b */ ; drop table t */",
        "select 1--1; drop table t",
        "select '\\'; drop table t; -- '",
        "select 1 # '\n; drop table t -- '",
        "select [a'; drop table t; --'] from t",
        "select `a'; drop table t; --'` from t",
        "select $a$ '; drop table t; -- $a$",
        "select 1" + " " * SQL_MAX_CHARS + "; drop table t",
        "(" * 3000,
        "select " + "(" * 3000,
    ],
)
def test_what_is_not_shown_is_an_execution(query: str) -> None:
    assert sql_effect(query) == "execution"
