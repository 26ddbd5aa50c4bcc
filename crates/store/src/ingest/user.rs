//! Names of users, as far as this machine's own list knows them.

use std::collections::HashMap;
use std::sync::Arc;

/// Names by number.
#[derive(Debug)]
pub(crate) struct Users {
    names: HashMap<u32, Arc<str>>,
}

impl Users {
    /// Those of `/etc/passwd`; users that a directory service knows are shown by number.
    pub(crate) fn of_system() -> Users {
        Users::of(&std::fs::read_to_string("/etc/passwd").unwrap_or_default())
    }

    fn of(list: &str) -> Users {
        let mut names = HashMap::new();
        for line in list.lines() {
            let mut fields = line.split(':');
            if let (Some(name), Some(number)) = (fields.next(), fields.nth(1))
                && let Ok(number) = number.parse()
            {
                // The first name of a number is its own.
                names.entry(number).or_insert_with(|| name.into());
            }
        }
        Users { names }
    }

    /// The name of a user, or the number.
    pub(crate) fn name(&mut self, uid: u32) -> Arc<str> {
        Arc::clone(self.names.entry(uid).or_insert_with(|| uid.to_string().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::Users;

    #[test]
    fn names_or_numbers() {
        let mut users =
            Users::of("root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:\nbad\nann:x:1000:1::/:\n");
        assert_eq!((&*users.name(0), &*users.name(1000), &*users.name(7)), ("root", "ann", "7"));
    }
}
