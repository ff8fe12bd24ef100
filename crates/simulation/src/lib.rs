//! Lets two servers, the agents of a company and its board meet in every order that chance finds,
//! on a virtual clock, and checks after every step what must hold.
//!
//! The use cases, the statements and the transactions of the engine are the real ones. What a
//! server remembers between two transactions is imitated, so that another server, a program, the
//! board or a fault can come in between. A seed determines all of it: ids, tokens, time, order.

mod beats;
mod board;
mod books;
mod checks;
mod host;
mod housekeeping;
mod late;
mod money;
mod program;
mod recovery;
mod runner;
mod seeded;
mod server;
mod settle;
mod simulation;
mod starts;
mod text;
mod trace;
mod world;

pub use runner::{Failed, Runner, Tally, try_all, try_on_all_cores};
pub use world::Broken;
