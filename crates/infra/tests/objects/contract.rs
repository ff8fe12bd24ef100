//! What every place does.

use core::ops::ControlFlow;

use uuid::Uuid;
use workforce_domain::attachment::ObjectName;
use workforce_domain::port::{Clock, Ids, ObjectError, ObjectStore};
use workforce_domain::time::Timestamp;
use workforce_infra::clock::SystemClock;
use workforce_infra::ids::UuidV7Ids;

/// A name that no other call got.
pub(crate) fn name() -> ObjectName {
    let ids = UuidV7Ids::new(SystemClock);
    ObjectName {
        company: Uuid::from_u128(7).into(),
        asset: ids.next().into(),
    }
}

/// An instant after everything that was written until now.
pub(crate) fn soon() -> Timestamp {
    SystemClock
        .now()
        .plus(core::time::Duration::from_secs(3600))
}

/// Writes an object, in pieces of `size`.
pub(crate) fn put(objects: &dyn ObjectStore, name: ObjectName, bytes: &[u8], size: usize) {
    let mut writer = objects.create(name).unwrap();
    for piece in bytes.chunks(size) {
        writer.write(piece).unwrap();
    }
    writer.finish().unwrap();
}

/// Every object that was written before an instant.
pub(crate) fn before(objects: &dyn ObjectStore, at: Timestamp) -> Vec<ObjectName> {
    let mut all = Vec::new();
    objects
        .each_before(at, &mut |found| {
            all.extend_from_slice(found);
            ControlFlow::Continue(())
        })
        .unwrap();
    all.sort();
    all
}

/// So many bytes without a pattern.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(length)
    .collect()
}

/// Holds a place to all of it.
pub(crate) fn hold_to(objects: &dyn ObjectStore) {
    objects_come_back_whole_and_in_parts(objects);
    what_is_not_there_is_missing(objects);
    a_renamed_object_replaces_another(objects);
    nothing_is_seen_before_it_is_whole(objects);
    old_objects_are_shown(objects);
}

fn objects_come_back_whole_and_in_parts(objects: &dyn ObjectStore) {
    // Below one part, exactly two of either kind of place, and some more.
    for length in [1, 100_000, 2 * 1024 * 1024, 10 * 1024 * 1024, 11_000_001] {
        let (name, bytes) = (name(), noise(length));
        put(objects, name, &bytes, 300_000);
        assert!(objects.read(name, 0, length).unwrap() == bytes, "{length}");
        assert!(objects.read(name, 0, length + 100).unwrap() == bytes);
        for after in [length as u64, length as u64 + 100] {
            assert_eq!(objects.read(name, after, 100).unwrap(), b"");
        }
        let (from, to) = (length / 3, length - length / 4);
        let range = objects.read(name, from as u64, to - from).unwrap();
        assert!(range == bytes[from..to], "{from}..{to}");
        objects.delete(name).unwrap();
    }
}

fn what_is_not_there_is_missing(objects: &dyn ObjectStore) {
    let name = name();
    let read = objects.read(name, 0, 1);
    assert!(matches!(read, Err(ObjectError::Missing(missing)) if missing == name));
    objects.delete(name).unwrap();
    put(objects, name, b"x", 1);
    objects.delete(name).unwrap();
    objects.delete(name).unwrap();
    assert!(matches!(
        objects.read(name, 0, 1),
        Err(ObjectError::Missing(_))
    ));
}

fn a_renamed_object_replaces_another(objects: &dyn ObjectStore) {
    let (old, new) = (name(), name());
    assert!(matches!(
        objects.rename(new, old),
        Err(ObjectError::Missing(missing)) if missing == new
    ));
    for _ in 0..2 {
        put(objects, new, b"new", 3);
        objects.rename(new, old).unwrap();
        assert_eq!(objects.length(new).unwrap(), None);
        assert_eq!(objects.length(old).unwrap(), Some(3));
        assert_eq!(objects.read(old, 0, 10).unwrap(), b"new");
        put(objects, old, b"longer", 6);
        assert_eq!(objects.length(old).unwrap(), Some(6));
    }
    objects.delete(old).unwrap();
}

fn nothing_is_seen_before_it_is_whole(objects: &dyn ObjectStore) {
    for length in [1000, 7 * 1024 * 1024] {
        let name = name();
        let mut writer = objects.create(name).unwrap();
        writer.write(&noise(length)).unwrap();
        assert!(matches!(
            objects.read(name, 0, 1),
            Err(ObjectError::Missing(_))
        ));
        drop(writer);
        assert!(matches!(
            objects.read(name, 0, 1),
            Err(ObjectError::Missing(_))
        ));
        assert_eq!(before(objects, soon()), []);
    }
}

fn old_objects_are_shown(objects: &dyn ObjectStore) {
    let mut names: Vec<ObjectName> = (0..7).map(|_| name()).collect();
    names.sort();
    for name in &names {
        put(objects, *name, b"x", 1);
    }
    assert_eq!(before(objects, soon()), names);
    assert_eq!(before(objects, Timestamp::from_micros(0)), []);
    let mut shown = 0;
    objects
        .each_before(soon(), &mut |found| {
            shown += found.len();
            ControlFlow::Break(())
        })
        .unwrap();
    assert!((1..=names.len()).contains(&shown));
    for name in &names {
        objects.delete(*name).unwrap();
    }
    assert_eq!(before(objects, soon()), []);
}
