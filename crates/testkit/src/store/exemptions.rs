use std::sync::{Mutex, MutexGuard, PoisonError};

use workforce_infra::store::invariant_names;

/// What of the invariants is not asked for when a test ends.
#[derive(Debug, Default)]
pub struct Exemptions(Mutex<Exempt>);

#[derive(Debug)]
enum Exempt {
    These(Vec<&'static str>),
    All,
}

impl Default for Exempt {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

impl Exemptions {
    /// Says that a test breaks these invariants on purpose, by writing what no use case would.
    ///
    /// # Panics
    /// When there is no invariant of such a name.
    #[track_caller]
    pub fn breaks_on_purpose(&self, names: &[&'static str]) {
        for name in names {
            assert!(
                invariant_names().any(|known| known == *name),
                "there is no invariant `{name}`"
            );
        }
        if let Exempt::These(exempt) = &mut *self.exempt() {
            exempt.extend(names);
        }
    }

    /// Says that a test writes rows past all rules, or takes the database away, so that no
    /// invariant can be asked for.
    pub fn is_beneath_the_rules(&self) {
        *self.exempt() = Exempt::All;
    }

    /// True when nothing is asked for.
    pub(super) fn are_all(&self) -> bool {
        matches!(*self.exempt(), Exempt::All)
    }

    /// True when this invariant is not asked for.
    pub(super) fn contain(&self, name: &str) -> bool {
        match &*self.exempt() {
            Exempt::These(exempt) => exempt.contains(&name),
            Exempt::All => true,
        }
    }

    fn exempt(&self) -> MutexGuard<'_, Exempt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
