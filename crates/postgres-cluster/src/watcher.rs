//! What keeps the server for the process that started it, and ends it with that process.

/// Runs `"$@"` until standard input closes, then ends it and removes the working directory. A line
/// on standard input is a signal that ends it too, after which it is run again.
///
/// The operating system closes the pipe for a process that was killed too, so no server outlives
/// the tests it was started for. QUIT is PostgreSQL's immediate shutdown: the data is thrown away,
/// so it need not be written. The file `ended` tells that the server ended by itself, and `server`
/// holds the id of its process.
pub(crate) const WATCHER: &str = r#"
serve() {
    rm -f ended server
    (
        sh -c 'echo "$$" >server; exec "$@"' serve "$@" </dev/null
        : >ended
    ) &
    keeper=$!
}
stop() {
    until [ -s server ]; do sleep 0.02; done
    [ -e ended ] || kill "-$1" "$(cat server)"
    wait "$keeper"
}
serve "$@"
while read -r signal; do
    stop "$signal"
    serve "$@"
done
stop QUIT
rm -rf -- "$PWD"
"#;

/// How a server is stopped before it is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// In good order: transactions are undone, and everything is written.
    Fast,
    /// At once, as by a crash: the server recovers when it starts.
    Immediate,
}

impl Stop {
    pub(crate) const fn signal(self) -> &'static str {
        match self {
            Self::Fast => "INT",
            Self::Immediate => "QUIT",
        }
    }
}
