//! All pairs of writes about one agent, one issue and one company meet: one is stopped before
//! each of its looks at the store in turn, and the other runs meanwhile as far as it comes.
//! Whatever they answer, no invariant is broken and the store fails nobody.

mod deeds;
mod executions;
mod gate;
mod outcome;
mod ring;
mod scene;
mod walk;
