//! Who may depend on whom: the table of `docs/architecture.md`.

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Violation;
use crate::repository::Repository;

/// What one package may depend on.
struct Permission {
    package: &'static str,
    /// Packages of this workspace.
    may_use: &'static [&'static str],
    /// Third-party packages it must not name, not even for its tests.
    must_not_see: &'static [&'static str],
}

/// Test code may depend on this package from everywhere.
const TESTKIT: &str = "workforce-testkit";

/// A server that tests and tasks share, without a client for it.
const POSTGRES_CLUSTER: &str = "workforce-postgres-cluster";

/// The models that agents talk to; test code may depend on it from everywhere.
const MODEL_IMITATION: &str = "workforce-model-imitation";

/// What says that a test is left out; test code may depend on it from everywhere.
const SKIPPED_TESTS: &str = "workforce-skipped-tests";

/// The forges that pull requests are made at; test code may depend on it from everywhere.
const FORGE_IMITATION: &str = "workforce-forge-imitation";

/// What looks at pages; test code may depend on it from everywhere.
const BROWSER: &str = "workforce-browser";

/// What implements the ports, and what an example embeds with it.
const EMBEDDED: (&str, &str) = ("workforce-infra", "workforce-app");

/// What takes long to build and no rule needs: `cargo xtask tidy` answers within seconds from
/// nothing.
const HEAVY: &[&str] = &[
    "actix-web",
    "diesel",
    "diesel_migrations",
    "libsqlite3-sys",
    "object_store",
    "pq-sys",
    "r2d2",
    "tokio",
    "ureq",
    "utoipa",
];

/// Runs processes.
const NO_INTERFACE_NOR_DATABASE: &[&str] = &[
    "actix-web",
    "diesel",
    "diesel_migrations",
    "libsqlite3-sys",
    "pq-sys",
    "r2d2",
    "utoipa",
];

/// Describes the interface. Values that know what they are by themselves may give their schema too,
/// for whoever asks for it.
const SCHEMAS: &str = "utoipa";

/// Errors nobody branches on belong to binaries.
const ANYHOW: &str = "anyhow";
const BINARIES: [&str; 4] = ["workforce", "workforce-bench", "workforce-codegen", "xtask"];

const PERMISSIONS: &[Permission] = &[
    Permission {
        package: "workforce-vitals",
        may_use: &[],
        must_not_see: &["actix-web", "diesel", "nix", "r2d2", "utoipa"],
    },
    Permission {
        package: "workforce-folders",
        may_use: &[],
        must_not_see: HEAVY,
    },
    Permission {
        package: "workforce-agent-programs",
        may_use: &[],
        must_not_see: &[
            "actix-web",
            "diesel",
            "nix",
            "r2d2",
            "tempfile",
            "tokio",
            "tracing",
            "ureq",
            "utoipa",
        ],
    },
    Permission {
        package: "workforce-domain",
        may_use: &[],
        must_not_see: &[
            "actix-web",
            "chacha20poly1305",
            "diesel",
            "diesel_migrations",
            "fs4",
            "futures-util",
            "getrandom",
            "libsqlite3-sys",
            "nix",
            "pq-sys",
            "r2d2",
            "rand",
            "tempfile",
            "tokio",
            "tokio-util",
            "tracing",
            "ureq",
            "utoipa",
            "walkdir",
        ],
    },
    Permission {
        package: "workforce-app",
        may_use: &["workforce-domain"],
        must_not_see: &[
            "actix-web",
            "diesel",
            "diesel_migrations",
            "fs4",
            "futures-util",
            "libsqlite3-sys",
            "nix",
            "pq-sys",
            "r2d2",
            "tokio",
            "tokio-util",
            "ureq",
            "utoipa",
        ],
    },
    Permission {
        package: "workforce-scrub",
        may_use: &["workforce-domain"],
        must_not_see: HEAVY,
    },
    Permission {
        package: "workforce-git",
        may_use: &["workforce-domain", "workforce-folders"],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: "workforce-forges",
        may_use: &["workforce-domain"],
        must_not_see: &["tokio"],
    },
    Permission {
        package: "workforce-guard",
        may_use: &[
            "workforce-agent-programs",
            "workforce-domain",
            "workforce-scrub",
        ],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: "workforce-http-caller",
        may_use: &["workforce-agent-programs"],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: "workforce-infra",
        may_use: &["workforce-domain", "workforce-folders", "workforce-vitals"],
        must_not_see: &["actix-web", "tokio-util", "ureq", "utoipa"],
    },
    Permission {
        package: "workforce-engine",
        may_use: &[
            "workforce-domain",
            "workforce-agent-programs",
            "workforce-app",
            "workforce-folders",
            "workforce-forges",
            "workforce-git",
            "workforce-guard",
            "workforce-http-caller",
            "workforce-scrub",
            "workforce-vitals",
        ],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: "workforce-http",
        may_use: &[
            "workforce-domain",
            "workforce-app",
            "workforce-scrub",
            "workforce-vitals",
        ],
        must_not_see: &[
            "diesel",
            "diesel_migrations",
            "libsqlite3-sys",
            "nix",
            "pq-sys",
            "r2d2",
        ],
    },
    Permission {
        package: "workforce-board",
        may_use: &[
            "workforce-agent-programs",
            "workforce-domain",
            "workforce-app",
            "workforce-http",
        ],
        must_not_see: &[
            "diesel",
            "diesel_migrations",
            "libsqlite3-sys",
            "nix",
            "pq-sys",
            "r2d2",
            "utoipa",
        ],
    },
    Permission {
        package: "workforce",
        may_use: &[
            "workforce-board",
            "workforce-agent-programs",
            "workforce-domain",
            "workforce-app",
            "workforce-infra",
            "workforce-engine",
            "workforce-folders",
            "workforce-forges",
            "workforce-guard",
            "workforce-http",
            "workforce-http-caller",
            "workforce-vitals",
        ],
        must_not_see: &[],
    },
    Permission {
        package: SKIPPED_TESTS,
        may_use: &[],
        must_not_see: HEAVY,
    },
    Permission {
        package: POSTGRES_CLUSTER,
        may_use: &[SKIPPED_TESTS],
        must_not_see: HEAVY,
    },
    Permission {
        package: MODEL_IMITATION,
        may_use: &[SKIPPED_TESTS],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: BROWSER,
        may_use: &[SKIPPED_TESTS],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: FORGE_IMITATION,
        may_use: &[],
        must_not_see: NO_INTERFACE_NOR_DATABASE,
    },
    Permission {
        package: TESTKIT,
        may_use: &[
            "workforce-domain",
            "workforce-app",
            "workforce-infra",
            "workforce-engine",
            "workforce-http",
            "workforce-vitals",
            POSTGRES_CLUSTER,
        ],
        must_not_see: &[],
    },
    Permission {
        package: "workforce-simulation",
        may_use: &[
            "workforce-domain",
            "workforce-app",
            "workforce-engine",
            "workforce-infra",
            TESTKIT,
        ],
        must_not_see: &["actix-web", "diesel", "r2d2", "tokio", "utoipa"],
    },
    Permission {
        package: "workforce-bench",
        may_use: &["workforce-app", "workforce-domain", TESTKIT],
        must_not_see: &["utoipa"],
    },
    Permission {
        package: "workforce-codegen",
        may_use: &["workforce-app", "workforce-domain", "workforce-http"],
        must_not_see: &["diesel", "libsqlite3-sys", "pq-sys"],
    },
    Permission {
        package: "xtask",
        may_use: &[POSTGRES_CLUSTER, SKIPPED_TESTS],
        must_not_see: HEAVY,
    },
];

/// Every dependency of every member is one that [`PERMISSIONS`] allows.
pub(super) fn allowed(repository: &Repository) -> Result<Vec<Violation>> {
    let metadata = MetadataCommand::new()
        .current_dir(repository.root())
        .no_deps()
        .exec()
        .context("failed to read the workspace")?;
    let ours: Vec<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut violations = Vec::new();
    for package in &metadata.packages {
        let manifest = package.manifest_path.as_std_path();
        let manifest = manifest.strip_prefix(repository.root()).unwrap_or(manifest);
        for dependency in &package.dependencies {
            let edge = Edge {
                from: &package.name,
                to: &dependency.name,
                is_ours: ours.contains(&dependency.name.as_str()),
                is_for_tests: dependency.kind == DependencyKind::Development,
                is_optional: dependency.optional,
            };
            if let Err(reason) = edge.check() {
                violations.push(Violation::of_path(manifest, reason));
            }
        }
    }
    Ok(violations)
}

/// One dependency.
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    is_ours: bool,
    is_for_tests: bool,
    is_optional: bool,
}

impl Edge<'_> {
    fn check(&self) -> Result<(), String> {
        let Self {
            from,
            to,
            is_ours,
            is_for_tests,
            is_optional,
        } = *self;
        let permission = PERMISSIONS
            .iter()
            .find(|permission| permission.package == from)
            .ok_or_else(|| format!("{from} is not in the table of permitted dependencies"))?;
        // A package may name itself for its tests, to switch on a feature.
        let is_for_all_tests = [
            TESTKIT,
            BROWSER,
            MODEL_IMITATION,
            FORGE_IMITATION,
            SKIPPED_TESTS,
            from,
        ]
        .contains(&to);
        let is_test_code = is_for_tests && (is_for_all_tests || (from, to) == EMBEDDED);
        if is_ours && !permission.may_use.contains(&to) && !is_test_code {
            return Err(format!("{from} must not depend on {to}"));
        }
        let is_schema = to == SCHEMAS && is_optional;
        if permission.must_not_see.contains(&to) && !is_schema {
            return Err(format!("{from} must not see {to}"));
        }
        if to == ANYHOW && !BINARIES.contains(&from) {
            return Err(format!(
                "{from} must not use {ANYHOW}: its callers branch on errors"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
