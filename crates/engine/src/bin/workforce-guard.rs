//! The guard as a program of its own, for programs that embed the engine. The
//! service has it as a subcommand.

fn main() -> std::process::ExitCode {
    if std::env::args_os().any(|argument| argument == workforce_http_caller::SUBCOMMAND) {
        workforce_http_caller::main()
    } else {
        workforce_guard::main()
    }
}
