use super::*;

#[test]
fn an_arena_on_a_base_finds_what_the_base_holds() {
    let mut base = Exprs::new(1_000);
    let any = base.any_text();
    let word = base.literal(b"null");
    let base = Arc::new(base);
    let mut x = Exprs::on(&base, 1_000);
    assert_eq!((x.any_text(), x.literal(b"null"), x.len()), (any, word, base.len()));
    let more = x.literal(b"nullable");
    let both = x.alt(&[word, more]);
    assert!(more.0 as usize >= base.len());
    assert!(x.accepts(both, b"null") && x.accepts(both, b"nullable") && !x.accepts(both, b"nulla"));
    // The limit counts what is built besides, and nothing stands on an arena that itself has a base.
    let mut small = Exprs::on(&base, 16);
    small.literal(b"a text of more than sixteen bytes");
    assert!(small.check().is_err());
    assert!(Exprs::on(&Arc::new(x), 1_000).len() < base.len());
}

#[test]
fn long_lists_and_rows_count_as_nodes() {
    let mut x = Exprs::new(1_000_000);
    let texts: Vec<ExprId> = (0..640u32).map(|i| x.literal(&i.to_be_bytes())).collect();
    let (nodes, size) = (x.own_len(), x.own_size());
    assert_eq!(nodes, size);
    let any = x.alt(&texts);
    let part = x.alt(&texts[1..]);
    assert_eq!((x.own_len(), x.own_size()), (nodes + 2, nodes + 2 + 2 * 640 * 4 / 64 - 1));
    let size = x.own_size();
    x.row(any);
    x.row(part);
    assert!(x.own_size() - size > x.own_len() - nodes - 2);
    // A copy of long lists has the limit of what it copies.
    let mut y = Exprs::new(x.own_len());
    y.import(&x, any);
    y.import(&x, part);
    assert!(y.is_over());
}

#[test]
fn what_is_over_its_limit_takes_no_more_memory() {
    let mut x = Exprs::new(100);
    // The path of a trie holds all of a string.
    assert_eq!(x.choice(&["b".to_owned(), "a".repeat(1_000)]), Exprs::NEVER);
    assert!(x.is_over() && x.own_len() < 10, "{}", x.own_len());
    let names = x.fixes.len();
    for _ in 0..100 {
        let (number, name) = x.fix(false);
        x.define(number, name);
    }
    assert_eq!(x.fixes.len(), names);
    let mut y = Exprs::new(100);
    let text = y.choice(&["a".repeat(90)]);
    assert!(y.check().is_ok() && y.accepts(text, "a".repeat(90).as_bytes()));
}
