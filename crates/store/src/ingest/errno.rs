//! The names of Linux's errors. A table.

use netra_event::Layer;

/// Names from 1 on; the numbers are those of x86-64 and AArch64.
const NAMES: [&str; 133] = [
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
    "EHWPOISON",
];

/// The name of an error, or its number where it has none.
pub(crate) fn name(result: i64) -> std::borrow::Cow<'static, str> {
    let number = result.unsigned_abs();
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    match at.and_then(|at| NAMES.get(at)).filter(|name| !name.is_empty()) {
        Some(name) => (*name).into(),
        None => format!("E{number}").into(),
    }
}

/// The name of the error that a function gave: some libraries have numbers of their own.
pub(crate) fn name_of(code: u16, result: i64) -> std::borrow::Cow<'static, str> {
    match Layer::of_code(code) {
        Some(Layer::Mpiio | Layer::Pnetcdf) => format!("error {}", result.unsigned_abs()).into(),
        _ => name(result),
    }
}

/// The number of an error's name; 0 where nobody knows it.
pub(crate) fn number(text: &str) -> u32 {
    let known = NAMES.iter().position(|name| !name.is_empty() && *name == text);
    let known = known.and_then(|at| u32::try_from(at + 1).ok());
    let digits = || text.strip_prefix("error ").or_else(|| text.strip_prefix('E'));
    known.or_else(|| digits()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{name, name_of, number};
    use netra_event::Function;

    #[test]
    fn names_lead_back() {
        for error in 1..=200 {
            assert_eq!(i64::from(number(&name(-error))), error);
        }
        assert_eq!(number("nonsense"), 0);
        let own = name_of(Function::MpiFileOpen.code(), -17);
        assert_eq!((&*own, number(&own)), ("error 17", 17));
        assert_eq!(name_of(Function::Open.code(), -17), "EEXIST");
    }

    #[test]
    fn names_are_linuxs() {
        for (number, text) in [(1, "EPERM"), (2, "ENOENT"), (28, "ENOSPC"), (40, "ELOOP")] {
            assert_eq!(name(-number), text);
        }
        for (number, text) in
            [(42, "ENOMSG"), (110, "ETIMEDOUT"), (122, "EDQUOT"), (133, "EHWPOISON")]
        {
            assert_eq!(name(-number), text);
        }
        assert_eq!((name(-41), name(0), name(-9999)), ("E41".into(), "E0".into(), "E9999".into()));
    }
}
