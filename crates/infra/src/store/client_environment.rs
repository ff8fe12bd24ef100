//! The variables by which the programs of PostgreSQL, such as `pg_dump`, reach a database. Every
//! process of the machine sees the arguments of a program, and its own user alone its variables.

use super::url::{DatabaseUrl, Target, percent_decoded};

/// A parameter of a URL that `pg_dump` and its kin cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the programs of PostgreSQL cannot be told the parameter {0:?} of the database's URL")]
pub struct UnknownParameter(String);

/// Parameters of a URL with the variables that mean the same.
const VARIABLES: [(&str, &str); 22] = [
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("service", "PGSERVICE"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("client_encoding", "PGCLIENTENCODING"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("require_auth", "PGREQUIREAUTH"),
    ("gssencmode", "PGGSSENCMODE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("sslcrl", "PGSSLCRL"),
    ("sslnegotiation", "PGSSLNEGOTIATION"),
];

/// Parameters that say when a connection is given up, which has no variable.
const WITHOUT: [&str; 5] = [
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "tcp_user_timeout",
];

impl DatabaseUrl {
    /// The variables by which the programs of PostgreSQL reach the same database; none for SQLite.
    ///
    /// # Errors
    /// [`UnknownParameter`], rather than reaching it in another way.
    pub fn client_environment(&self) -> Result<Vec<(&'static str, String)>, UnknownParameter> {
        match self.target() {
            Target::Sqlite(_) => Ok(Vec::new()),
            Target::Postgres(url) => variables(url),
        }
    }
}

fn variables(url: &str) -> Result<Vec<(&'static str, String)>, UnknownParameter> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (location, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = location.split_once('/').unwrap_or((location, ""));
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (hosts, ports): (Vec<_>, Vec<_>) = hosts.split(',').map(host_and_port).unzip();
    let has_ports = ports.iter().any(|port| !port.is_empty());
    let mut variables = Vec::new();
    let mut say = |name: &str, value: String| {
        if value.is_empty() || WITHOUT.contains(&name) {
            return Ok(());
        }
        let Some((_, variable)) = VARIABLES.iter().find(|(parameter, _)| *parameter == name) else {
            return Err(UnknownParameter(name.to_owned()));
        };
        // When a parameter comes twice, the later one holds.
        variables.retain(|(known, _)| known != variable);
        variables.push((*variable, value));
        Ok(())
    };
    say("user", percent_decoded(user))?;
    say("password", percent_decoded(password))?;
    say("host", percent_decoded(&hosts.join(",")))?;
    say(
        "port",
        if has_ports {
            ports.join(",")
        } else {
            String::new()
        },
    )?;
    say("dbname", percent_decoded(database))?;
    for parameter in parameters.split('&').filter(|it| !it.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        say(&percent_decoded(name), percent_decoded(value))?;
    }
    Ok(variables)
}

fn host_and_port(host: &str) -> (&str, &str) {
    if let Some((inner, after)) = host.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return (inner, after.trim_start_matches(':'));
    }
    host.split_once(':').unwrap_or((host, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> String {
        let told = variables(url).unwrap();
        let told: Vec<_> = told
            .iter()
            .map(|(name, it)| format!("{name}={it}"))
            .collect();
        told.join(" ")
    }

    #[test]
    fn a_url_says_the_same_in_variables() {
        for (url, told) in [
            (
                "postgres://me:p%40ss%2Fw@localhost:5433/work?sslmode=require",
                "PGUSER=me PGPASSWORD=p@ss/w PGHOST=localhost PGPORT=5433 PGDATABASE=work \
                 PGSSLMODE=require",
            ),
            (
                "postgres://%2Frun%2Fpostgresql/work?tcp_user_timeout=1",
                "PGHOST=/run/postgresql PGDATABASE=work",
            ),
            (
                "postgresql:///work?host=/run/a&host=/run/b&port=6",
                "PGDATABASE=work PGHOST=/run/b PGPORT=6",
            ),
            (
                "postgres://[::1]:7,b/work",
                "PGHOST=::1,b PGPORT=7, PGDATABASE=work",
            ),
            ("postgres://", ""),
        ] {
            assert_eq!(of(url), told, "{url}");
        }
    }

    #[test]
    fn what_has_no_variable_is_refused() {
        let refused = variables("postgres://localhost/work?krbsrvname=x").unwrap_err();
        assert_eq!(refused, UnknownParameter("krbsrvname".into()));
    }
}
