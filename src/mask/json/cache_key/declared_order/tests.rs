use super::*;

fn program(names: usize, required: u64) -> ObjectProgram {
    let spelled: Vec<std::sync::Arc<str>> = (0..names).map(|i| format!("n{i}").into()).collect();
    let mut items: Vec<(&[u8], u32)> = spelled.iter().zip(0..).map(|(name, i)| (name.as_bytes(), i)).collect();
    ObjectProgram {
        names: crate::vocab::Trie::build(&mut items).unwrap(),
        rules: vec![None; names],
        words: 2,
        required: smallvec::smallvec![required, required],
        possible: smallvec::smallvec![u64::MAX >> 1, u64::MAX],
        dependent_required: None,
        others: Vec::new(),
        min: 0,
        max: u64::MAX,
        witnesses: 0,
        witness_members: smallvec::SmallVec::new(),
        spelled,
        union: None,
    }
}

#[test]
fn what_comes_next_ends_with_the_first_name_that_is_needed() {
    for required in [0, 1, 1 << 63, 1 << 20 | 1 << 40, u64::MAX] {
        let p = program(128, required);
        for position in 0..=130 {
            let needed = |i: usize| i < 128 && required >> (i % 64) & 1 == 1;
            let first = (position..128).find(|&i| needed(i));
            let ahead = UpcomingKeys::from_position(&p, position);
            // Name 63 is not possible.
            let expected: Vec<usize> = (position..128).filter(|&i| i != 63 && i <= first.unwrap_or(128)).collect();
            assert_eq!(
                (0..128).filter(|&i| ahead.names(i / 64) >> (i % 64) & 1 == 1).collect::<Vec<_>>(),
                expected,
                "{required:x} from {position}"
            );
            assert_eq!(ahead.may_end(), first.is_none());
        }
    }
}

#[test]
fn only_names_in_view_are_told() {
    let p = program(128, 0);
    let told = |position, view: [u64; 2]| {
        let mut out = Vec::new();
        UpcomingKeys::from_position(&p, position).tell(&view, &mut out);
        out
    };
    assert_eq!(told(3, [0, 0]), told(90, [0, 0]));
    assert_ne!(told(3, [0, 0]), told(128, [0, 0]));
    assert_eq!(told(3, [4, 0]), told(90, [4, 0]));
    assert_ne!(told(2, [4, 0]), told(3, [4, 0]));
    // The last name is seen: from there on no other one is left.
    assert_ne!(told(126, [0, 1 << 63]), told(127, [0, 1 << 63]));
}
