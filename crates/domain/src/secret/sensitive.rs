/// Words that make a name sensitive wherever they stand in it.
const SENSITIVE: [&str; 12] = [
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "password",
    "passwords",
    "secret",
    "secrets",
];

/// Words that make a name sensitive when it ends with them.
const SENSITIVE_LAST: [&str; 4] = ["auth", "pass", "passwd", "pat"];

/// Ends of words written together with others, as in `PGPASSWORD`, that are
/// sensitive however the word begins.
const SENSITIVE_ENDS: [&str; 12] = [
    "accesskey",
    "apikey",
    "authkey",
    "credentials",
    "encryptionkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];

/// What a key is that opens nothing.
const HARMLESS_KEYS: [&str; 8] = [
    "changed",
    "foreign",
    "idempotency",
    "primary",
    "public",
    "sort",
    "ticket",
    "url",
];

/// What is said of tokens that a model reads and writes.
const COUNTED_TOKENS: [&str; 14] = [
    "budget",
    "cache",
    "cached",
    "completion",
    "count",
    "input",
    "limit",
    "max",
    "min",
    "num",
    "output",
    "prompt",
    "thinking",
    "total",
];

/// True for names of variables and fields whose values are likely credentials:
/// `GITHUB_TOKEN`, `apiKey`, `DB_PASSWORD`. Names are compared word by word, so
/// that `MONKEY`, `maxTokens` and `PUBLIC_KEY` are none; nor are names of
/// places, as in `TOKEN_FILE`. Linear in the name.
pub fn is_sensitive_name(name: &str) -> bool {
    // The field of a reference to a secret, which is no secret itself.
    if name == "secretId" {
        return false;
    }
    let mut before = "";
    let mut last = "";
    let mut sensitive = false;
    let mut tokens = false;
    let mut counted = false;
    for word in words_of(name) {
        sensitive |= is_one_of(&SENSITIVE, word)
            || SENSITIVE_ENDS.iter().any(|end| ends_with(word, end))
            || is_one_of(&["pwd"], word)
            || is_one_of(&["key", "keys"], word) && !is_one_of(&HARMLESS_KEYS, last);
        tokens |= is_one_of(&["tokens"], word);
        counted |= is_one_of(&COUNTED_TOKENS, word);
        before = last;
        last = word;
    }
    // A lone number at the end says nothing of its own.
    let end = if last.bytes().all(|byte| byte.is_ascii_digit()) {
        before
    } else {
        last
    };
    let names_a_place = is_one_of(&["file", "path", "dir"], end);
    (sensitive || is_one_of(&SENSITIVE_LAST, end) || tokens && !counted) && !names_a_place
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

fn ends_with(word: &str, end: &str) -> bool {
    let start = word.len().checked_sub(end.len());
    start
        .and_then(|start| word.get(start..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// The words of a name in any of the usual spellings: `API_KEY`, `api-key`,
/// `apiKey`, `APIKey2`.
fn words_of(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    core::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(end_of_word(rest));
        rest = after;
        Some(word)
    })
}

/// Where the first word of a text ends that begins with a letter or digit.
fn end_of_word(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let mut previous: Option<char> = None;
    while let Some((at, character)) = characters.next() {
        if !character.is_alphanumeric() {
            return at;
        }
        if let Some(previous) = previous {
            let begins_small = characters
                .peek()
                .is_some_and(|(_, next)| next.is_lowercase());
            let hump = character.is_uppercase()
                && (previous.is_lowercase() || previous.is_uppercase() && begins_small);
            if hump || previous.is_ascii_digit() != character.is_ascii_digit() {
                return at;
            }
        }
        previous = Some(character);
    }
    text.len()
}
