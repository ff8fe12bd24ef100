/// What a transaction locks, in the one order in which every transaction does. Two that take
/// locks in different orders can wait for each other for ever; a database that finds out ends
/// one of them, after a second.
///
/// Of several issues the younger is locked first: a child is made after its parent, and whoever
/// ends a child locks its parent after it. Of several records of another kind the one with the
/// smaller id comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lock {
    /// A company.
    Company,
    /// An agent.
    Agent,
    /// A project, with its goals, workspaces and conventions.
    Project,
    /// A goal.
    Goal,
    /// A label.
    Label,
    /// An issue, with its lease.
    Issue,
    /// The shape of a company's tree of goals or issues.
    Hierarchy,
    /// A file attached to an issue.
    Attachment,
    /// An approval, with what it does outside of the store.
    Approval,
    /// The worktree of a governed ticket.
    ExecutionWorkspace,
    /// A secret that a configuration refers to.
    Secret,
    /// The choice of a short name that nobody has.
    Names,
    /// A run that has begun.
    LiveRun,
    /// A wake with its queued run, and before them whether the agent may be woken: held by those
    /// who wake it, and taken away by those who stop it or its company.
    Wake,
    /// The counters of a company: the last thing, since everybody needs them.
    Counters,
}
