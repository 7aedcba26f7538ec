"""Texts that the grammars that come with interlock accept, and texts that they refuse."""

TEXTS = {
    "arithmetic": (["1 + 2 * (3 - 4) ** -5 % 6.5e3", "-1"], ["1 +", "01", "1 2", "()"]),
    "c": (
        [
            '#include <stdio.h>\nint main(void) { T *p = (T *) q; printf("%d", a * b); return (int) -1; }\n',
            "typedef struct { int a : 3; } S; static const S s[] = { [1] = { .a = 1 } };",
            "void f(void) { if (a) if (b) c(); else d(); for (T i = 0; i < 3; i++) (void) x; }",
        ],
        ["int f(void) { return }", "int if;", "intx;", "int x = a +;", "x = &&y;"],
    ),
    "csv": (['a,"b ""c""\r\n",\n,,\n', ""], ['a"b', '"a', '"a"b']),
    "go": (
        [
            "package a\n",
            'package a\n\nimport "fmt"\n\n'
            "func f[T any](x []T) (int, error) {\n\tif x := g(); x > 1 {\n\t\treturn 1, nil\n\t}\n}\n",
            "package a; var x = map[string]int{\n\t`a`: 1,\n}",
        ],
        ["package a\nvar x = f(1\n)\n", "package a\nfunc f()\n{\n}\n", "packagea\n", "package a\nvar x = &&b"],
    ),
    "java": (
        [
            "class A<T> { List<List<T>> a = (T) b; void f() { g(x -> x + 1, A::new, a >> 2, a < b); } }",
            "record R(int a) { R { } } enum E { A, B { }; int c; }",
            "public sealed interface I permits A, B { } final class A implements I { } sealed class B { }",
        ],
        [
            "class A { void f() { 1 + 2; } }",
            "class A extendsB { }",
            "class A permits B { }",
            "class if { }",
            "class A { int a = (a > > 2); }",
        ],
    ),
    "json": (['{"a": [1, -2.5e3, "\\u00e9", null]}'], ["[01]", "{a: 1}", "[1,]", '"\n"']),
    "python": (
        [
            "def f(a, /, b=1, *c, d, **e) -> int:\n    return a if b else [x for x in c]\n",
            "match x:\n    case [1, *_] | {'a': y, **z} if y: pass\n    case A(b, c=d): pass\nmatch = match(1)\n",
            "a, (b, *c) = d[1:2, ...] = await e\n",
            "print(f\"{a!r:>{w}} {{}} {', '.join(b)}\" f'{c[\"d\"]=}')\n",
            "f\"{', '.join(f'{k}={v!r:>{w}}' for k, v in d.items())}\"\n",
            'f\'{f"{a if b else c[1:2](d, e=f).g != -h}{{}}" "i"!r:^20}\'\n',
            'f"""{f\'{a=}\' f"b"}""" f\'\'\'{f"{a:{b}{c}d}"}\'\'\'\n',
            "f\"{a:{'>'}{len(b) + 1!r:3}.{c}d} {'''e'''}\"\n",
            "x = (1,\n# comment\n  2)\nif x: y()\n",
            "with (open(a) as b, c): pass\n",
        ],
        [
            "f() = 1\n",
            "1 = x\n",
            "  x = 1\n",
            "if x:\npass\n",
            "x = if\n",
            "from x importy\n",
            "x iny\n",
            "def f(a=1, b): pass\n",
            'f"{"a"}"\n',
            'f"{f"{a}"}"\n',
            "f\"{f'{'b'}'}\"\n",
            "f\"{f'{}'}\"\n",
            "f\"{f'{a}\\n'}\"\n",
            'f"{a:{b:{c}}}"\n',
            "f\"{'''a'}\"\n",
            "del f()\n",
            "f(a=1, b)\n",
            '"""a',
            "try: pass\n",
        ],
    ),
    "sql": (
        [
            "SELECT age FROM student WHERE name = 'John Doe'",
            "with a(b) as (select 1 union all values (2)) "
            "select distinct a.*, count(*) filter (where b) over w c "
            "from a left join t using (x) group by 1 having 2 window w as (order by b) order by b desc "
            "nulls last limit 3;",
            "insert or ignore into t (a) values (1), (?2) on conflict (a) do update set a = excluded.a returning *",
            "update t set (a, b) = (1, 2) from u where t.x not between 1 and 2 and y is not null",
            "delete from \"t\" where a in (select 1) or b like '%' escape '!'",
        ],
        [
            "selecta from b",
            "select from t",
            "select 1a",
            "select a from select",
            "insert into t value (1)",
            "drop table t",
        ],
    ),
    "xml": (
        ['<?xml version="1.0"?>\n<!DOCTYPE a>\n<a b="&lt;"><!-- c --> &#x41; <d/><![CDATA[]]]]></a>\n'],
        ["<a>]]></a>", "<a b=c/>", "<a>&b;</a>", "<a>&#0;</a>", "<a/><b/>", "<a><!-- -- --></a>"],
    ),
}
