//! The quoted texts of SQL, with the columns they are compared with.

/// A text and what it is compared with, or put into.
pub(super) struct Compared {
    /// From 1.
    pub(super) line: usize,
    pub(super) word: String,
    /// Table and column, when it is a column.
    pub(super) column: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A keyword or a name, in lower case.
    Name(String),
    Quoted(String),
    Sign(char),
}

impl Token {
    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Quoted(_) | Self::Sign(_) => None,
        }
    }
}

/// Every quoted text of `sql`.
pub(super) fn words(sql: &str) -> Vec<Compared> {
    let mut found = Vec::new();
    let tokens = tokens(sql);
    // The statements of a trigger are statements too.
    let statements = tokens.split(|(_, token)| *token == Token::Sign(';') || token.is("begin"));
    for statement in statements {
        // What a virtual table is told is its module's affair, and the text of a table is no word.
        if statement
            .iter()
            .take(2)
            .any(|(_, token)| token.is("virtual") || token.is("sqlite_schema"))
        {
            continue;
        }
        let table = table(statement);
        for (index, (line, token)) in statement.iter().enumerate() {
            let Token::Quoted(word) = token else {
                continue;
            };
            let before = statement.get(..index).unwrap_or_default();
            let column = column(before).map(str::to_owned);
            found.push(Compared {
                line: *line,
                word: word.clone(),
                column: table.map(str::to_owned).zip(column),
            });
        }
    }
    found
}

/// What a statement is about.
fn table(statement: &[(usize, Token)]) -> Option<&str> {
    let is_index_or_trigger = statement
        .iter()
        .take(3)
        .any(|(_, token)| token.is("index") || token.is("trigger"));
    let before: &[&str] = if is_index_or_trigger {
        &["on"]
    } else {
        &["table", "update", "into", "from"]
    };
    let start = statement
        .iter()
        .position(|(_, token)| before.iter().any(|keyword| token.is(keyword)))?;
    let mut names = statement.iter().skip(start + 1);
    names.find_map(|(_, token)| {
        let name = token.name()?;
        (!["if", "not", "exists", "only"].contains(&name)).then_some(name)
    })
}

/// The column that the next text is compared with, given what stands before it.
fn column(before: &[(usize, Token)]) -> Option<&str> {
    let mut tokens = before.iter().rev().map(|(_, token)| token).peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Quoted(_) | Token::Sign('(' | ',' | '=' | '<' | '>' | '!') => {}
            Token::Name(name) if name == "in" || name == "not" => {}
            // A column's own default: its name is the first of its definition.
            Token::Name(name) if name == "default" => {
                let mut first = None;
                for token in tokens.by_ref() {
                    match token {
                        Token::Sign('(' | ',') => break,
                        token if token.is("column") => break,
                        token => first = token.name(),
                    }
                }
                return first;
            }
            Token::Name(name) => return Some(name),
            Token::Sign(_) => return None,
        }
    }
    None
}

/// The tokens of `sql` with their lines, without comments.
fn tokens(sql: &str) -> Vec<(usize, Token)> {
    let mut found = Vec::new();
    for (index, line) in sql.lines().enumerate() {
        let mut rest = line;
        while let Some(next) = rest.chars().next() {
            let taken = if rest.starts_with("--") {
                rest.len()
            } else if next == '\'' {
                let inside = rest.get(1..).unwrap_or_default();
                let length = inside.find('\'').unwrap_or(inside.len());
                let text = inside.get(..length).unwrap_or_default();
                found.push((index + 1, Token::Quoted(text.to_owned())));
                (length + 2).min(rest.len())
            } else if next.is_alphanumeric() || next == '_' {
                let length = rest
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .unwrap_or(rest.len());
                let name = rest.get(..length).unwrap_or_default();
                found.push((index + 1, Token::Name(name.to_lowercase())));
                length
            } else {
                if !next.is_whitespace() {
                    found.push((index + 1, Token::Sign(next)));
                }
                next.len_utf8()
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
    }
    found
}
