//! The guard as a program of its own, for programs that embed the engine. The
//! service has it as a subcommand.

fn main() -> std::process::ExitCode {
    workforce_guard::main()
}
