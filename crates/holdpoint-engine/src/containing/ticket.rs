//! Tickets: what binds a command that an agent is told to run contained to the call that was judged.
//!
//! A ticket is a small record in the gate's own state, named by 128 random bits, of which an agent only learns the name. It
//! is for one line in one directory, for a minute, and once: whoever runs it takes it away first, in one step. It gives
//! no more than containment, so its name is no secret.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdpoint_broker::CallContext;
use holdpoint_core::digest_of;
use serde::{Deserialize, Serialize};

use crate::Locations;
use crate::store::{Unread, make_private_directory, plain_words, read_bounded, write_whole};

/// How many letters the name of a ticket has: 128 bits, four to a letter.
pub(super) const NAME_LENGTH: usize = 32;

/// How long a ticket can be used: an agent runs what it has just been told to. What a person thinks over for longer is
/// asked for again.
const LIFETIME: Duration = Duration::from_secs(60);

/// What is older than this is of nobody who still runs, and is swept away.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The most entries a sweep looks at, so that a full directory costs one hook no more than some milliseconds.
const MAX_SWEPT: usize = 200;

/// The longest line that is repeated beside its ticket: one argument of a program ends at twice that on Linux. A longer
/// one is in the ticket alone.
pub const MAX_REPEATED: usize = 64 << 10;

/// The largest record that is read: the longest command there is, escaped.
const MAX_RECORD: u64 = 16 << 20;

/// What a ticket is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The digest of the line.
    pub digest: String,
    /// The line, where it is too long to be repeated.
    pub line: Option<String>,
    /// Who made the call.
    pub agent: String,
    /// The tool it was made with.
    pub tool: String,
    /// In which session.
    pub session: Option<String>,
    /// The digest of the call.
    pub call: String,
    /// The directory the line runs in.
    pub directory: PathBuf,
    /// The directory the agent belongs in.
    pub workspace: PathBuf,
    /// The digest of the policy it was judged under.
    pub policy: String,
    /// The call as it was made, by which a person can let it run outside of the sandbox; none if it is too long to be
    /// repeated.
    pub made: Option<CallContext>,
    /// Whether whoever runs it wants to know where it ended.
    pub keeps_directory: bool,
    /// The user it is for.
    pub user: u32,
    /// Until when it can be used, in milliseconds since 1970.
    pub until: u64,
}

impl Ticket {
    /// A ticket for a line, to be used at once by this user.
    pub fn for_line(line: &str) -> Self {
        Self {
            digest: digest_of(line.as_bytes()),
            line: (line.len() > MAX_REPEATED).then(|| line.to_owned()),
            agent: String::new(),
            tool: String::new(),
            session: None,
            call: String::new(),
            directory: PathBuf::new(),
            workspace: PathBuf::new(),
            policy: String::new(),
            made: None,
            keeps_directory: false,
            user: holdpoint_sandbox::user::id(),
            until: now().saturating_add(milliseconds(LIFETIME)),
        }
    }
}

/// Why a line is not run. Nothing has run then.
#[derive(Debug, thiserror::Error)]
pub enum TicketError {
    /// There is no state directory.
    #[error("there is no home and no state directory: set HOME or XDG_STATE_HOME")]
    NoState,
    /// The name is not that of a ticket.
    #[error("this is not the name of a ticket")]
    NotOne,
    /// There is none of that name.
    #[error("there is no such ticket, or it was used already: make the call again")]
    Missing,
    /// It is too old.
    #[error("the ticket has expired: make the call again")]
    Expired,
    /// It is somebody else's.
    #[error("the ticket is for another user")]
    OtherUser,
    /// It is for something else.
    #[error("the ticket is for another command")]
    OtherLine,
    /// It is for elsewhere.
    #[error("the ticket is for the directory `{}`", .0.display())]
    OtherDirectory(PathBuf),
    /// The record cannot be read.
    #[error("the ticket cannot be read ({0})")]
    Unread(String),
    /// The record cannot be kept.
    #[error("no ticket can be kept ({0})")]
    NotKept(String),
}

/// The tickets of one user.
#[derive(Clone, Debug)]
pub struct Tickets {
    directory: PathBuf,
}

impl Tickets {
    /// Those kept at `locations`.
    pub fn at(locations: &Locations) -> Result<Self, TicketError> {
        let state = locations.state.as_ref().ok_or(TicketError::NoState)?;
        Ok(Self {
            directory: state.join("tickets"),
        })
    }

    /// Keeps a ticket; its name.
    pub fn issue(&self, ticket: &Ticket) -> Result<String, TicketError> {
        let not_kept = |error: io::Error| TicketError::NotKept(plain_words(&error));
        make_private_directory(&self.directory).map_err(not_kept)?;
        self.sweep();
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|error| TicketError::NotKept(error.to_string()))?;
        let name: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let record =
            serde_json::to_vec(ticket).map_err(|error| TicketError::NotKept(error.to_string()))?;
        write_whole(&self.directory.join(&name), &record).map_err(not_kept)?;
        Ok(name)
    }

    /// Takes a ticket away for a line in a directory; the ticket and the line. Whatever is wrong with it, it cannot be
    /// used again.
    pub fn claim(
        &self,
        name: &str,
        line: Option<&str>,
        directory: &Path,
    ) -> Result<(Ticket, String), TicketError> {
        let path = self.path(name)?;
        let claimed = path.with_extension("claimed");
        match fs::rename(&path, &claimed) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(TicketError::Missing);
            }
            Err(error) => return Err(TicketError::Unread(plain_words(&error))),
        }
        let read =
            owned_by_user(&claimed).and_then(|()| match read_bounded(&claimed, MAX_RECORD) {
                Ok(bytes) => Ok(bytes),
                Err(Unread::Missing) => Err(TicketError::Missing),
                Err(unread) => Err(TicketError::Unread(unread.to_string())),
            });
        // It was used up by its new name; what is left is swept away later if it cannot be removed now.
        let _ = fs::remove_file(&claimed);
        let ticket: Ticket = serde_json::from_slice(&read?)
            .map_err(|error| TicketError::Unread(error.to_string()))?;
        if ticket.user != holdpoint_sandbox::user::id() {
            return Err(TicketError::OtherUser);
        }
        // One that is good for longer than any that is made was made by another clock, or by nobody.
        let now = now();
        if now > ticket.until || ticket.until > now.saturating_add(milliseconds(LIFETIME)) {
            return Err(TicketError::Expired);
        }
        if ticket.directory != directory {
            return Err(TicketError::OtherDirectory(ticket.directory));
        }
        let line = line
            .or(ticket.line.as_deref())
            .unwrap_or_default()
            .to_owned();
        if digest_of(line.as_bytes()) != ticket.digest {
            return Err(TicketError::OtherLine);
        }
        Ok((ticket, line))
    }

    /// Keeps the directory in which the line of a ticket ended.
    pub fn keep_directory(&self, name: &str, directory: &Path) -> Result<(), TicketError> {
        let Some(text) = directory.to_str() else {
            return Ok(());
        };
        let path = self.path(name)?.with_extension("directory");
        write_whole(&path, text.as_bytes())
            .map_err(|error| TicketError::NotKept(plain_words(&error)))
    }

    /// The directory in which the line of a ticket ended, if that is known; once.
    pub fn take_directory(&self, name: &str) -> Result<Option<String>, TicketError> {
        let path = self.path(name)?.with_extension("directory");
        match read_bounded(&path, MAX_RECORD) {
            Ok(bytes) => {
                let _ = fs::remove_file(&path);
                Ok(String::from_utf8(bytes).ok())
            }
            Err(Unread::Missing) => Ok(None),
            Err(unread) => Err(TicketError::Unread(unread.to_string())),
        }
    }

    fn path(&self, name: &str) -> Result<PathBuf, TicketError> {
        match is_name(name) {
            true => Ok(self.directory.join(name)),
            false => Err(TicketError::NotOne),
        }
    }

    /// Takes away what nobody came for. What cannot be removed is of no use to anybody, so nobody is told.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        for entry in entries.take(MAX_SWEPT).flatten() {
            let age = entry.metadata().and_then(|found| found.modified());
            let age = age
                .ok()
                .and_then(|time| SystemTime::now().duration_since(time).ok());
            let limit = match entry.path().extension() {
                None => LIFETIME.saturating_mul(2),
                Some(_) => MAX_AGE,
            };
            if age.is_some_and(|age| age > limit) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a text can be the name of a ticket: 128 bits in hexadecimal digits, and nothing a shell would read otherwise.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == NAME_LENGTH && text.bytes().all(plain)
}

/// An error unless a record is this user's own, for nobody else to read or write.
#[cfg(unix)]
fn owned_by_user(path: &Path) -> Result<(), TicketError> {
    use std::os::unix::fs::MetadataExt;
    let found = path
        .symlink_metadata()
        .map_err(|error| TicketError::Unread(plain_words(&error)))?;
    let own = found.is_file()
        && found.uid() == holdpoint_sandbox::user::id()
        && found.mode() & 0o077 == 0;
    match own {
        true => Ok(()),
        false => Err(TicketError::OtherUser),
    }
}

#[cfg(not(unix))]
fn owned_by_user(_path: &Path) -> Result<(), TicketError> {
    Ok(())
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, milliseconds)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tickets() -> (tempfile::TempDir, Tickets) {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("tickets");
        (place, Tickets { directory })
    }

    fn ticket(line: &str) -> Ticket {
        Ticket {
            directory: "/work".into(),
            ..Ticket::for_line(line)
        }
    }

    #[test]
    fn a_ticket_is_for_one_line_in_one_directory_once() {
        let (_place, tickets) = tickets();
        let here = Path::new("/work");
        let name = tickets.issue(&ticket("make x")).unwrap();
        assert_eq!(name.len(), 32);
        let (found, line) = tickets.claim(&name, Some("make x"), here).unwrap();
        assert_eq!((found.directory.as_path(), line.as_str()), (here, "make x"));
        let again = tickets.claim(&name, Some("make x"), here);
        assert!(matches!(again, Err(TicketError::Missing)), "{again:?}");
        for (line, directory) in [
            (Some("make y"), "/work"),
            (Some(""), "/work"),
            (None, "/work"),
            (Some("make x"), "/elsewhere"),
        ] {
            let name = tickets.issue(&ticket("make x")).unwrap();
            let claimed = tickets.claim(&name, line, Path::new(directory));
            let other = matches!(
                claimed,
                Err(TicketError::OtherLine | TicketError::OtherDirectory(_))
            );
            assert!(other, "{claimed:?}");
            // And then it is gone.
            let again = tickets.claim(&name, Some("make x"), here);
            assert!(matches!(again, Err(TicketError::Missing)), "{again:?}");
        }
        assert_eq!(fs::read_dir(&tickets.directory).unwrap().count(), 0);
    }

    #[test]
    fn an_old_or_damaged_ticket_is_refused() {
        let (_place, tickets) = tickets();
        let here = Path::new("/work");
        let old = Ticket {
            until: now() - 1,
            ..ticket("a")
        };
        let name = tickets.issue(&old).unwrap();
        let claimed = tickets.claim(&name, Some("a"), here);
        assert!(matches!(claimed, Err(TicketError::Expired)), "{claimed:?}");
        let name = tickets.issue(&ticket("a")).unwrap();
        fs::write(tickets.directory.join(&name), "{}").unwrap();
        let claimed = tickets.claim(&name, Some("a"), here);
        assert!(
            matches!(claimed, Err(TicketError::Unread(_))),
            "{claimed:?}"
        );
        for name in [
            "",
            "../x",
            "ABCDEF0123456789abcdef0123456789",
            &"0".repeat(33),
        ] {
            let claimed = tickets.claim(name, Some("a"), here);
            assert!(matches!(claimed, Err(TicketError::NotOne)), "{claimed:?}");
        }
    }

    #[test]
    fn a_ticket_from_the_future_is_refused() {
        let (_place, tickets) = tickets();
        let later = Ticket {
            until: now() + 2 * milliseconds(LIFETIME),
            ..ticket("a")
        };
        let name = tickets.issue(&later).unwrap();
        let claimed = tickets.claim(&name, Some("a"), Path::new("/work"));
        assert!(matches!(claimed, Err(TicketError::Expired)), "{claimed:?}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_put_in_the_place_of_a_ticket_is_none() {
        use std::os::unix::fs::symlink;
        let (place, tickets) = tickets();
        let here = Path::new("/work");
        let name = "0123456789abcdef0123456789abcdef";
        let real = tickets.issue(&ticket("a")).unwrap();
        // A link to a real one, a directory, a pipe, nothing at all, and one for another line in its place.
        let path = tickets.directory.join(name);
        symlink(tickets.directory.join(&real), &path).unwrap();
        assert!(tickets.claim(name, Some("a"), here).is_err());
        fs::create_dir(&path).unwrap();
        assert!(tickets.claim(name, Some("a"), here).is_err());
        let _ = fs::remove_dir_all(path.with_extension("claimed"));
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(tickets.claim(name, Some("a"), here).is_err());
        }
        fs::write(&path, "").unwrap();
        assert!(tickets.claim(name, Some("a"), here).is_err());
        fs::rename(tickets.directory.join(&real), &path).unwrap();
        let claimed = tickets.claim(name, Some("b"), here);
        assert!(
            matches!(claimed, Err(TicketError::OtherLine)),
            "{claimed:?}"
        );
        // A line that only looks the same is another.
        for other in ["a ", "a\n", "a\0", "A", "\u{430}", "'a'"] {
            let name = tickets.issue(&ticket("a")).unwrap();
            let claimed = tickets.claim(&name, Some(other), here);
            assert!(
                matches!(claimed, Err(TicketError::OtherLine)),
                "{claimed:?}"
            );
        }
        // Nor is a directory that only leads to the same place.
        for other in ["/work/", "/work/.", "/work/../work", "work", ""] {
            let name = tickets.issue(&ticket("a")).unwrap();
            let same = Path::new(other) == here;
            let claimed = tickets.claim(&name, Some("a"), Path::new(other));
            assert_eq!(claimed.is_ok(), same, "{other}: {claimed:?}");
        }
        // What was taken is not taken again under the name it has then.
        let name = tickets.issue(&ticket("a")).unwrap();
        tickets.claim(&name, Some("a"), here).unwrap();
        for again in [
            format!("{name}.claimed"),
            format!("./{name}"),
            name.to_uppercase(),
        ] {
            assert!(tickets.claim(&again, Some("a"), here).is_err());
        }
        drop(place);
    }

    #[cfg(unix)]
    #[test]
    fn a_ticket_that_others_could_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (_place, tickets) = tickets();
        let name = tickets.issue(&ticket("a")).unwrap();
        let path = tickets.directory.join(&name);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let claimed = tickets.claim(&name, Some("a"), Path::new("/work"));
        assert!(
            matches!(claimed, Err(TicketError::OtherUser)),
            "{claimed:?}"
        );
    }

    #[test]
    fn a_long_line_is_in_the_ticket_alone() {
        let (_place, tickets) = tickets();
        let long = format!("echo {}", "é".repeat(MAX_REPEATED));
        let name = tickets.issue(&ticket(&long)).unwrap();
        let (_, line) = tickets.claim(&name, None, Path::new("/work")).unwrap();
        assert_eq!(line, long);
    }

    #[test]
    fn many_who_want_one_ticket_get_it_once() {
        let (_place, tickets) = tickets();
        let name = tickets.issue(&ticket("a")).unwrap();
        let got: usize = std::thread::scope(|scope| {
            let claims: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| tickets.claim(&name, Some("a"), Path::new("/work")).is_ok())
                })
                .collect();
            claims
                .into_iter()
                .map(|one| usize::from(one.join().unwrap()))
                .sum()
        });
        assert_eq!(got, 1);
    }

    #[test]
    fn what_nobody_came_for_is_swept() {
        let (_place, tickets) = tickets();
        let name = tickets.issue(&ticket("a")).unwrap();
        let path = tickets.directory.join(&name);
        let old = SystemTime::now() - Duration::from_secs(600);
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(old)
            .unwrap();
        tickets.issue(&ticket("b")).unwrap();
        assert!(!path.exists());
        assert_eq!(fs::read_dir(&tickets.directory).unwrap().count(), 1);
    }

    #[test]
    fn where_a_line_ended_is_told_once() {
        let (_place, tickets) = tickets();
        let name = tickets.issue(&ticket("a")).unwrap();
        assert_eq!(tickets.take_directory(&name).unwrap(), None);
        tickets
            .keep_directory(&name, Path::new("/work/sub"))
            .unwrap();
        assert_eq!(
            tickets.take_directory(&name).unwrap().as_deref(),
            Some("/work/sub")
        );
        assert_eq!(tickets.take_directory(&name).unwrap(), None);
    }
}
