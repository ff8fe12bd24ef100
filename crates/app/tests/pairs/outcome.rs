//! What came of a write.

use std::fmt::Debug;

use workforce_app::{Context, Failure};
use workforce_domain::port::{StoreError, Tx};
use workforce_testkit::world::{Acting, World};

/// What a deed came to: done, or refused for this reason; the store must fail nobody.
pub(crate) type Outcome = Result<Result<(), String>, StoreError>;

/// Acts as the board.
pub(crate) fn board<T, E: Debug>(
    world: &World,
    body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
) -> Outcome {
    as_somebody(world.board(), body)
}

/// Acts as somebody.
pub(crate) fn as_somebody<T, E: Debug>(
    who: Acting<'_>,
    body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
) -> Outcome {
    match who.write(body) {
        Ok(_) => Ok(Ok(())),
        Err(Failure::Refused(refusal)) => Ok(Err(format!("{refusal:?}"))),
        Err(Failure::Store(error)) => Err(error),
    }
}
