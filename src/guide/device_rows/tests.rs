use super::*;

fn identity(n: u64) -> MaskIdentity {
    let mut identity = MaskIdentity::default();
    identity.number(n);
    identity
}

#[test]
fn slots_of_a_step_are_not_given_again_in_it() {
    let mut slots = RowSlots::new(3);
    for _ in 0..5 {
        slots.begin();
        let mut taken: Vec<u32> = (0..3).map(|_| slots.take().unwrap()).collect();
        assert_eq!(slots.take(), None);
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
    }
    assert_eq!(RowSlots::new(0).take(), None);
}

#[test]
fn an_identified_mask_is_found_until_its_slot_is_given_again() {
    let mut slots = RowSlots::new(2);
    slots.begin();
    let slot = slots.take().unwrap();
    slots.identify(slot, identity(1));
    for _ in 0..9 {
        slots.begin();
        assert_eq!(slots.find(&identity(1)), Some(slot));
        assert_eq!(slots.find(&identity(2)), None);
        // A mask without an identity has the other slot, step after step.
        assert_eq!(slots.take(), Some(1 - slot));
    }
    assert_eq!(slots.num_identified(), 1);
    // What nobody asks for goes.
    for n in 2..5 {
        slots.begin();
        let slot = slots.take().unwrap();
        slots.identify(slot, identity(n));
    }
    slots.begin();
    assert_eq!(slots.find(&identity(1)), None);
    assert!(slots.find(&identity(4)).is_some());
    slots.clear();
    assert_eq!((slots.find(&identity(4)), slots.num_identified(), slots.len()), (None, 0, 2));
}

#[test]
fn an_identity_stays_where_it_is() {
    let mut slots = RowSlots::new(2);
    slots.begin();
    let (a, b) = (slots.take().unwrap(), slots.take().unwrap());
    slots.identify(a, identity(1));
    slots.identify(b, identity(1));
    assert_eq!((slots.find(&identity(1)), slots.num_identified()), (Some(a), 1));
    // The slot without an identity is given again, and the identity stays.
    slots.begin();
    assert_eq!(slots.take(), Some(b));
    assert_eq!(slots.find(&identity(1)), Some(a));
}
