use super::*;

#[test]
fn room_is_given_back_when_a_write_is_done() {
    let waiting = WaitingWrites::default();
    let large = waiting.room(&vec![b'a'; (UNITS - 2) * UNIT / 4]).unwrap();
    let small = waiting.room(b"").unwrap();
    let refused = waiting.room(b"").err().unwrap();
    assert_eq!(refused.code(), Code::Busy);
    drop(small);
    assert!(
        waiting.room(b"a").is_err(),
        "a unit for itself, and one for its body"
    );
    drop(large);
    assert!(waiting.room(b"a").is_ok());
}

#[test]
fn a_body_of_many_parts_takes_more_room_or_never_has_any() {
    let waiting = WaitingWrites::default();
    let room = |objects: usize| waiting.room(&br#"{"":0},"#.repeat(objects));
    let refused = room(200_000).err().unwrap();
    assert_eq!(refused.code(), Code::BodyTooLarge);
    let first = room(100_000).unwrap();
    assert_eq!(room(100_000).err().unwrap().code(), Code::Busy);
    drop(first);
    assert!(room(100_000).is_ok());
}
