//! Who sits at this machine: the name of the account this process runs under, by the system's own
//! list and not by what the environment says.

#[cfg(unix)]
use std::fs;

/// The name of the account; its number if it has none.
#[cfg(unix)]
pub fn account_name() -> String {
    // Not by whom `/proc/self` belongs to: of a process that keeps others out that is root.
    let account = holdpoint_sandbox::user::id();
    name_of(account).unwrap_or_else(|| format!("uid {account}"))
}

#[cfg(not(unix))]
pub fn account_name() -> String {
    from_environment()
}

/// The name of an account.
#[cfg(unix)]
fn name_of(account: u32) -> Option<String> {
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == account && !name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn from_environment() -> String {
    name_in_environment().unwrap_or_else(|| "unknown".into())
}

/// The name somebody goes by in their own terminal. Good enough for a record of what they change
/// themselves, never for an answer.
pub(crate) fn name_in_environment() -> Option<String> {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|name| !name.is_empty())
}
