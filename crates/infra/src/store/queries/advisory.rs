//! Locks on things that are no rows.

use diesel::QueryResult;
use uuid::Uuid;

/// A connection whose transaction can exclude others from a named thing.
pub(super) trait AdvisoryLock {
    /// Waits until no other transaction holds this lock, and holds it until
    /// the transaction ends.
    fn advisory_lock(&mut self, lock: i64) -> QueryResult<()>;

    /// Waits until no other transaction holds one of these locks alone, then
    /// shares them until the transaction ends.
    fn advisory_lock_shared(&mut self, locks: [i64; 2]) -> QueryResult<()>;
}

#[cfg(feature = "sqlite")]
impl AdvisoryLock for diesel::SqliteConnection {
    /// There is one writer, so nobody has to be excluded.
    fn advisory_lock(&mut self, _lock: i64) -> QueryResult<()> {
        Ok(())
    }

    fn advisory_lock_shared(&mut self, _locks: [i64; 2]) -> QueryResult<()> {
        Ok(())
    }
}

#[cfg(feature = "postgres")]
impl AdvisoryLock for diesel::PgConnection {
    fn advisory_lock(&mut self, lock: i64) -> QueryResult<()> {
        use diesel::RunQueryDsl;

        let query = diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
            .bind::<diesel::sql_types::BigInt, _>(lock);
        crate::store::cached::cached(query).execute(self).map(drop)
    }

    fn advisory_lock_shared(&mut self, [one, other]: [i64; 2]) -> QueryResult<()> {
        use diesel::RunQueryDsl;
        use diesel::sql_types::BigInt;

        let query = diesel::sql_query(
            "SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock_shared($2)",
        )
        .bind::<BigInt, _>(one)
        .bind::<BigInt, _>(other);
        crate::store::cached::cached(query).execute(self).map(drop)
    }
}

/// Excludes other transactions from `what` of the owner with this id. Two
/// different things share a lock only with negligible chance, and then they
/// merely wait for each other.
pub(super) fn advisory_lock(
    connection: &mut impl AdvisoryLock,
    what: &str,
    owner: Uuid,
) -> QueryResult<()> {
    connection.advisory_lock(number(what, owner))
}

/// The same for two things, each with its owner, which other transactions may
/// hold in this way too.
pub(super) fn advisory_lock_shared(
    connection: &mut impl AdvisoryLock,
    things: [(&str, Uuid); 2],
) -> QueryResult<()> {
    connection.advisory_lock_shared(things.map(|(what, owner)| number(what, owner)))
}

fn number(what: &str, owner: Uuid) -> i64 {
    // FNV-1a: the same on every server and in every version.
    let hash = what
        .bytes()
        .chain(*owner.as_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    hash.cast_signed()
}
