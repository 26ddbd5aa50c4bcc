//! Who may look: users with a token each, and what they see.
//!
//! A site has a file of users, in TOML; whoever starts a page for themselves gets one token that is made
//! up on the spot. Tokens are kept as SHA-256 sums, so that the file gives none away.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use toml::{Table, Value};

/// Somebody who may look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// What they are called.
    pub name: String,
    /// Their number on the system: whose jobs they see.
    pub uid: Option<u32>,
    /// Whether they see everybody's jobs.
    pub is_administrator: bool,
    digest: [u8; 32],
}

impl User {
    /// Somebody with this token.
    #[must_use]
    pub fn new(name: &str, uid: Option<u32>, is_administrator: bool, token: &str) -> User {
        User { name: name.to_owned(), uid, is_administrator, digest: digest(token) }
    }

    /// Whether they see what belongs to this user; what belongs to nobody known, administrators see.
    #[must_use]
    pub fn sees(&self, owner: Option<u32>) -> bool {
        self.is_administrator || (owner.is_some() && owner == self.uid)
    }
}

/// Everybody who may look.
#[derive(Debug, Clone, Default)]
pub struct Users {
    list: Vec<User>,
}

impl Users {
    /// These.
    #[must_use]
    pub fn new(list: Vec<User>) -> Users {
        Users { list }
    }

    /// Reads a file of users: tables `[[user]]` with `name`, `uid`, `administrator`, and `token` or
    /// `token_sha256`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(text: &str) -> Result<Users, Vec<String>> {
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| vec![error.to_string()])?;
        let mut wrong = Vec::new();
        let mut users = Users::default();
        for key in table.keys().filter(|key| *key != "user") {
            wrong.push(format!("there is no key {key:?}; users are tables [[user]]"));
        }
        let rows = table.get("user").and_then(Value::as_array).cloned().unwrap_or_default();
        for (number, row) in rows.iter().enumerate() {
            match row.as_table().map(read_user) {
                Some(Ok(user)) => users.list.push(user),
                Some(Err(what)) => wrong.push(format!("user {}: {what}", number + 1)),
                None => wrong.push(format!("user {}: is no table", number + 1)),
            }
        }
        if users.list.is_empty() && wrong.is_empty() {
            wrong.push("no user is in it; nobody could look".to_owned());
        }
        if wrong.is_empty() { Ok(users) } else { Err(wrong) }
    }

    /// Who has this token. All are compared, whole, so that the time it takes says nothing.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Option<&User> {
        let digest = digest(token);
        let mut found = None;
        for user in &self.list {
            let differs =
                user.digest.iter().zip(&digest).fold(0, |differs, (a, b)| differs | (a ^ b));
            if differs == 0 {
                found = Some(user);
            }
        }
        found
    }

    /// What users are called, by number.
    #[must_use]
    pub fn name(&self, uid: u32) -> Option<&str> {
        self.list.iter().find(|user| user.uid == Some(uid)).map(|user| user.name.as_str())
    }
}

fn read_user(row: &Table) -> Result<User, String> {
    const KEYS: [&str; 5] = ["name", "uid", "administrator", "token", "token_sha256"];
    if let Some(key) = row.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("there is no key {key:?}; keys are {}", KEYS.join(", ")));
    }
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let name = text("name").ok_or("name is missing")?.to_owned();
    let uid = match row.get("uid").map(|uid| uid.as_integer().and_then(|uid| uid.try_into().ok())) {
        Some(None) => return Err("uid is a number of the system".to_owned()),
        uid => uid.flatten(),
    };
    let is_administrator = row.get("administrator").and_then(Value::as_bool).unwrap_or(false);
    if uid.is_none() && !is_administrator {
        return Err(format!("{name} has no uid and is no administrator, and would see nothing"));
    }
    let digest = match (text("token"), text("token_sha256")) {
        (Some(token), None) if token.len() >= 16 => digest(token),
        (Some(_), None) => return Err("a token has at least 16 characters".to_owned()),
        (None, Some(sum)) => unhex(sum).ok_or("token_sha256 is 64 hexadecimal digits")?,
        _ => return Err("either token or token_sha256 is needed".to_owned()),
    };
    Ok(User { name, uid, is_administrator, digest })
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// A token that nobody guesses.
///
/// # Errors
/// The system gives no random numbers.
pub fn make_token() -> std::io::Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").ok();
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_sees_their_own_and_an_administrator_all() {
        let text = format!(
            "[[user]]\nname = \"ann\"\nuid = 1000\ntoken = \"{0}\"\n\
             [[user]]\nname = \"root\"\nadministrator = true\ntoken_sha256 = \"{1}\"\n",
            "a-token-of-sixteen",
            "00".repeat(32)
        );
        let users = Users::read(&text).unwrap();
        let ann = users.with_token("a-token-of-sixteen").unwrap();
        assert_eq!((ann.name.as_str(), users.name(1000)), ("ann", Some("ann")));
        assert!(ann.sees(Some(1000)) && !ann.sees(Some(0)) && !ann.sees(None));
        assert_eq!(users.with_token("another-token-16"), None);
        let all = User::new("root", None, true, "x");
        assert!(all.sees(Some(1000)) && all.sees(None));
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let text =
            "typo = 1\n[[user]]\nname = \"a\"\nuid = 1\ntoken = \"short\"\n[[user]]\nuid = 2\n";
        let wrong = Users::read(text).unwrap_err();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong[1].contains("at least 16"), "{wrong:?}");
        assert!(Users::read("").unwrap_err()[0].contains("no user"));
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (make_token().unwrap(), make_token().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 48);
    }
}
