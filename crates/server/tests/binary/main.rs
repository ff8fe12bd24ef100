//! The real binary, started as a user would start it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "the binary under test is started as a process, and time is what the test waits for"
)]

mod adapter_checks;
mod agent_program_costs;
mod agent_programs;
mod agents;
mod attachment_places;
mod backups;
mod board;
mod board_tokens;
mod callbacks;
mod callers;
mod canaries;
mod client;
mod command_line;
mod containment;
mod crashes;
mod crawl;
mod data_folders;
mod database_faults;
mod database_locks;
mod demos;
mod disks;
mod doctor;
mod faulty_disk;
mod flushes;
mod harness;
mod histories;
mod idle;
mod linearizability;
mod lost_commits;
mod memory;
mod office;
mod packed_logs;
mod predecessors;
mod recovery;
mod refused_backups;
mod run_as;
mod secrets;
mod snapshots;
mod standard_error;
mod start_and_stop;
mod streams;
mod tickets;
mod timers;
