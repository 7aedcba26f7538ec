use super::*;

fn all(mut plan: PlanTokens) -> Vec<u32> {
    let (mut out, len) = (Vec::new(), plan.len());
    while let Some(token) = plan.first() {
        assert_eq!(plan.len() + out.len() as u64, len);
        out.push(token);
        plan = plan.rest();
    }
    assert_eq!(plan.len(), 0);
    out
}

#[test]
fn plans_have_their_tokens_in_order() {
    for len in [0, 1, 63, 64, 65, 128, 1000] {
        let tokens: Vec<u32> = (0..len).collect();
        let (plan, bytes) = PlanTokens::new(&tokens, &PlanTokens::default());
        assert_eq!(plan.len(), u64::from(len));
        assert!(bytes >= len * 4);
        assert_eq!(all(plan), tokens);
    }
}

#[test]
fn what_plans_end_with_is_held_once() {
    let tokens: Vec<u32> = (0..1000).collect();
    let (first, whole) = PlanTokens::new(&tokens, &PlanTokens::default());
    let longer: Vec<u32> = [7, 8, 9].into_iter().chain(40..1000).collect();
    let (second, own) = PlanTokens::new(&longer, &first);
    assert!(own * 10 < whole, "{own} of {whole}");
    assert_eq!(all(second.clone()), longer);
    // Another end has nothing in common, though its beginning is the same.
    let other: Vec<u32> = longer.iter().copied().chain([1]).collect();
    let (third, own) = PlanTokens::new(&other, &second);
    assert!(own > whole / 2);
    assert_eq!((all(third), all(second), all(first)), (other, longer, tokens));
}

#[test]
fn a_shorter_plan_shares_what_is_left_of_a_followed_one() {
    let tokens: Vec<u32> = (0..500).collect();
    let (mut plan, _) = PlanTokens::new(&tokens, &PlanTokens::default());
    for _ in 0..100 {
        plan = plan.rest();
    }
    let (shorter, own) = PlanTokens::new(&tokens[300..], &plan);
    assert_eq!(all(shorter), tokens[300..]);
    assert!(own < 2 * (PIECE * 4 + size_of::<Piece>()) as u32);
}

#[test]
fn long_plans_are_dropped_piece_by_piece() {
    let tokens = vec![3; 4_000_000];
    let (plan, _) = PlanTokens::new(&tokens, &PlanTokens::default());
    assert_eq!(plan.len(), 4_000_000);
    drop(plan);
}
