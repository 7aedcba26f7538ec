use super::super::INF;
use super::*;

/// All strings over three bytes of up to `len` bytes.
fn strings(len: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..len {
        let to = all.len();
        for i in from..to {
            let longer = b"abc".map(|b| [&all[i][..], &[b]].concat());
            all.extend(longer);
        }
        from = to;
    }
    all
}

#[test]
fn a_union_of_counted_copies_accepts_what_one_of_them_does() {
    let mut x = Exprs::new(1 << 16);
    let letter = x.byte_set(&[(b'a', b'b')]);
    let pair = x.literal(b"ab");
    let some = x.rep(pair, 0, 2);
    // A body of two ways, one of which may be empty.
    let body = x.alt(&[letter, some]);
    let mut parts = Vec::new();
    for (i, (min, max)) in [(0, 2), (0, 1), (1, 3), (2, 2), (0, INF), (3, 5)].into_iter().enumerate() {
        for body in [letter, body] {
            let copies = x.rep(body, min, max);
            // Tails that begin with copies as well, and may be empty.
            let more = x.rep(pair, u32::from(i % 2 == 0), 1 + i as u32 % 3);
            let end = x.literal(&b"cacbcc"[i..]);
            let tail = x.cat(more, end);
            parts.push(x.cat(copies, tail));
            parts.push(x.cat(copies, end));
        }
    }
    let all = x.alt(&parts);
    assert!(matches!(x.get(all), Expr::Alt(v) if v.len() > 8));
    let mut accepted = 0;
    for text in strings(7) {
        let any = x.accepts(all, &text);
        // One by one they are no union, so nothing of them is derived together.
        assert_eq!(any, parts.iter().any(|&p| x.accepts(p, &text)), "{:?}", String::from_utf8_lossy(&text));
        accepted += usize::from(any);
    }
    assert!(accepted > 100);
}
