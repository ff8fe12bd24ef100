use std::io;

/// What the kernel says about a process in `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcStat {
    pub(super) pid: i32,
    pub(super) state: u8,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) threads: i64,
    /// Clock ticks from boot to the start of the process (field 22).
    pub(super) start_ticks: i64,
    is_kernel: bool,
    has_environment: bool,
}

/// The flag of threads of the kernel's own.
const PF_KTHREAD: u64 = 0x0020_0000;

impl ProcStat {
    pub(super) fn read(pid: i32) -> io::Result<Self> {
        let line = std::fs::read(format!("/proc/{pid}/stat"))?;
        Self::parse(pid, &line).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("/proc/{pid}/stat cannot be read as process status"),
            )
        })
    }

    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        // The second field is the program's name in parentheses and may hold
        // anything, blanks and parentheses included.
        let name_end = line.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // Fields are numbered from 1 in proc(5); the third is first here.
        let field = |number: usize| fields.get(number - 3);
        Some(Self {
            pid,
            state: *field(3)?.as_bytes().first()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            threads: field(20)?.parse().ok()?,
            start_ticks: field(22)?.parse().ok()?,
            is_kernel: field(9)?.parse::<u64>().ok()? & PF_KTHREAD != 0,
            has_environment: field(51) != Some(&"0"),
        })
    }

    /// Whether the process still executes. A process whose first thread ended
    /// before the others looks like a zombie and is none.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1
    }

    /// Whether the process is just becoming another program, or about to end,
    /// so that nothing can be read of its environment for a moment.
    pub(super) fn is_between_programs(&self) -> bool {
        self.is_live() && !self.is_kernel && !self.has_environment
    }
}

#[cfg(test)]
mod tests {
    use super::ProcStat;

    #[test]
    fn a_name_with_blanks_and_parentheses_does_not_shift_the_fields() {
        let line = b"42 (a) b (c) Z 1 40 39 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 7788 0 0";
        let stat = ProcStat::parse(42, line).expect("a status line");
        assert_eq!((stat.group, stat.session), (40, 39));
        assert_eq!(stat.start_ticks, 7788);
        assert!(!stat.is_live());
    }

    #[test]
    fn a_first_thread_that_ended_before_the_others_is_live() {
        let line = b"42 (x) Z 1 40 39 0 -1 4 0 0 0 0 0 0 0 0 20 0 3 0 7788 0 0";
        assert!(ProcStat::parse(42, line).is_some_and(|stat| stat.is_live()));
    }

    #[test]
    fn a_truncated_line_is_no_status() {
        assert_eq!(ProcStat::parse(42, b"42 (x) S 1 40"), None);
    }
}
