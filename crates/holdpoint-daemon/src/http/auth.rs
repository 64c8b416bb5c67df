//! Who is at the other end: one-time codes, sessions, and how often somebody may try.
//!
//! A session is a secret in a cookie and a second secret that only the page holds. Of both only digests are kept, in memory
//! and in a file for its owner alone, so that a daemon that starts again knows who is signed in. The cookie alone answers nothing: browsers send
//! cookies to every port of a host, so a server of an agent's on another port may see it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use holdpoint_broker::host::Problem;
use holdpoint_broker::people::{People, Role, Standing, digest_of};
use holdpoint_broker::wire::unguessable;
use subtle::ConstantTimeEq;

use super::limits::{Allowance, Failures};
use super::sign_ins::{self, SignIn};

/// How long a code is good for.
const CODE_LASTS: Duration = Duration::from_secs(60);

/// The most codes that wait to be used; the oldest gives way.
const MAX_CODES: usize = 32;

/// How long a session lasts when nobody uses it.
const SESSION_LASTS: Duration = Duration::from_secs(12 * 60 * 60);

/// After how long without a sign of life it is noted again when a session was used: nobody is signed out for minutes.
const KEEP_EVERY: Duration = Duration::from_secs(5 * 60);

/// The most sessions; the one that was not used for the longest time gives way.
const MAX_SESSIONS: usize = 256;

/// The longest secret anybody has; longer ones are not even looked at.
const MAX_SECRET: usize = 256;

/// Who is signed in.
pub struct Auth {
    people: People,
    kept: Mutex<Kept>,
    /// Where it is kept who is signed in; nowhere if nobody is to be after a restart.
    file: Option<PathBuf>,
}

#[derive(Default)]
struct Kept {
    codes: Vec<Code>,
    sessions: Vec<Session>,
    failures: Failures,
}

struct Code {
    digest: [u8; 32],
    person: String,
    made: Instant,
}

struct Session {
    digest: [u8; 32],
    person: String,
    /// The person's entry when they signed in.
    entry: String,
    csrf: [u8; 32],
    used: Instant,
    allowance: Allowance,
}

/// What somebody signs in with.
pub(super) enum Credentials {
    /// A code of `holdpoint open`.
    Code(String),
    /// The token of somebody on the list.
    Token { name: String, token: String },
}

/// Why somebody is not let in.
pub(super) enum Shut {
    /// The secret is not right; that is said after a while.
    Wrong(Duration),
    /// The secret is not right, and there were too many wrong ones of late.
    TooOften(Duration),
    /// It cannot be found out.
    Trouble(Problem),
}

/// Somebody who has just signed in.
pub(super) struct Admitted {
    pub(super) name: String,
    pub(super) role: Role,
    /// The secret for the cookie.
    pub(super) cookie: String,
    /// The secret for the page.
    pub(super) csrf: String,
}

impl Auth {
    /// Nobody is signed in yet.
    pub fn new(people: People) -> Self {
        Self {
            people,
            kept: Mutex::default(),
            file: None,
        }
    }

    /// The same, with whoever was signed in before. A file that cannot be read signs nobody in.
    pub fn kept_at(people: People, file: PathBuf, now: Instant) -> Self {
        let sessions = sign_ins::load(&file).into_iter().filter_map(|one| {
            Some(Session {
                digest: one.cookie,
                person: one.person,
                entry: one.entry,
                csrf: one.csrf,
                used: now.checked_sub(one.idle)?,
                allowance: Allowance::whole(now),
            })
        });
        let sessions = sessions.take(MAX_SESSIONS).collect();
        Self {
            people,
            kept: Mutex::new(Kept {
                sessions,
                ..Kept::default()
            }),
            file: Some(file),
        }
    }

    /// Keeps who is signed in. If that fails they sign in again after a restart, and nothing else is lost.
    fn keep(&self, kept: &Kept, now: Instant) {
        let Some(file) = &self.file else { return };
        let all = kept.sessions.iter().map(|session| SignIn {
            cookie: session.digest,
            csrf: session.csrf,
            person: session.person.clone(),
            entry: session.entry.clone(),
            idle: now.duration_since(session.used),
        });
        let _ = sign_ins::save(file, &all.collect::<Vec<_>>());
    }

    /// Everybody who may sign in.
    pub fn people(&self) -> &People {
        &self.people
    }

    /// A code with which `person` signs in, once, within a minute. Whoever asks for it must be known
    /// to be them.
    pub fn new_code(&self, person: &str, now: Instant) -> Result<String, Problem> {
        let code = unguessable::<32>()?;
        let mut kept = self.kept();
        kept.codes.retain(|one| one.is_good(now));
        if kept.codes.len() >= MAX_CODES {
            kept.codes.remove(0);
        }
        kept.codes.push(Code {
            digest: digest_of(&code),
            person: person.to_owned(),
            made: now,
        });
        Ok(code)
    }

    /// Signs somebody in. Looking and counting are one step, so that no crowd of attempts gets in
    /// before the first of them is counted.
    pub(super) fn sign_in(
        &self,
        credentials: &Credentials,
        now: Instant,
    ) -> Result<Admitted, Shut> {
        let mut kept = self.kept();
        let known = match credentials {
            Credentials::Code(code) => match kept.redeem(code, now) {
                Some(name) => self.people.standing(&name).map(|who| (name, who)),
                None => Ok((String::new(), None)),
            },
            Credentials::Token { name, token } if token.len() <= MAX_SECRET => {
                let known = self.people.known_by(name, token);
                known.map(|who| (name.clone(), who))
            }
            Credentials::Token { name, .. } => Ok((name.clone(), None)),
        };
        // Codes and tokens are too long to be guessed, so whoever tries wrong ones keeps out nobody who has a right one.
        let (name, Some(standing)) = known.map_err(Shut::Trouble)? else {
            return Err(match kept.failures.shut(now) {
                Some(wait) => Shut::TooOften(wait),
                None => Shut::Wrong(kept.failures.count(now)),
            });
        };
        let role = standing.role;
        let (cookie, csrf) = kept.begin(&name, standing, now).map_err(Shut::Trouble)?;
        self.keep(&kept, now);
        Ok(Admitted {
            name,
            role,
            cookie,
            csrf,
        })
    }

    /// Who has the session of a cookie, and what they may do now; none if nobody has.
    pub(super) fn known_by(
        &self,
        cookie: &str,
        now: Instant,
    ) -> Result<Option<(String, Role)>, Problem> {
        let Some((name, entry)) = self
            .kept()
            .session(cookie, now)
            .map(|session| (session.person.clone(), session.entry.clone()))
        else {
            return Ok(None);
        };
        // Asked each time: whoever was taken off the list is signed out by that, and whoever else
        // comes by their name is not signed in.
        let standing = self.people.standing(&name)?;
        Ok(standing
            .filter(|standing| standing.entry == entry)
            .map(|standing| (name, standing.role)))
    }

    /// The same, for somebody who has just done something: their session lasts on.
    pub(super) fn used_by(
        &self,
        cookie: &str,
        now: Instant,
    ) -> Result<Option<(String, Role)>, Problem> {
        let mut kept = self.kept();
        let mut stale = false;
        if let Some(session) = kept.session(cookie, now) {
            stale = now.duration_since(session.used) >= KEEP_EVERY;
            session.used = session.used.max(now);
        }
        if stale {
            self.keep(&kept, now);
        }
        drop(kept);
        self.known_by(cookie, now)
    }

    /// Whether the page of a session sent this.
    pub(super) fn is_from_page(&self, cookie: &str, csrf: &str, now: Instant) -> bool {
        self.kept().session(cookie, now).is_some_and(|session| {
            csrf.len() <= MAX_SECRET && bool::from(session.csrf.ct_eq(&digest_of(csrf)))
        })
    }

    /// Counts something a session sends; how long to wait, if it sends too much.
    pub(super) fn allow(&self, cookie: &str, now: Instant) -> Result<(), Duration> {
        match self.kept().session(cookie, now) {
            Some(session) => session.allowance.take(now),
            None => Ok(()),
        }
    }

    /// Ends a session.
    pub(super) fn sign_out(&self, cookie: &str) {
        let digest = digest_of(cookie);
        let mut kept = self.kept();
        kept.sessions
            .retain(|session| !bool::from(session.digest.ct_eq(&digest)));
        self.keep(&kept, Instant::now());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Code {
    fn is_good(&self, now: Instant) -> bool {
        now.duration_since(self.made) < CODE_LASTS
    }
}

impl Kept {
    /// Whose code this is; it is used up by that.
    fn redeem(&mut self, code: &str, now: Instant) -> Option<String> {
        self.codes.retain(|one| one.is_good(now));
        if code.len() > MAX_SECRET {
            return None;
        }
        let digest = digest_of(code);
        let at = self
            .codes
            .iter()
            .position(|one| bool::from(one.digest.ct_eq(&digest)))?;
        Some(self.codes.remove(at).person)
    }

    fn begin(
        &mut self,
        person: &str,
        standing: Standing,
        now: Instant,
    ) -> Result<(String, String), Problem> {
        let (cookie, csrf) = (unguessable::<32>()?, unguessable::<32>()?);
        self.sessions.retain(|session| session.is_alive(now));
        if self.sessions.len() >= MAX_SESSIONS {
            let stalest = self
                .sessions
                .iter()
                .enumerate()
                .min_by_key(|(_, session)| session.used)
                .map(|(at, _)| at);
            stalest.map(|at| self.sessions.swap_remove(at));
        }
        self.sessions.push(Session {
            digest: digest_of(&cookie),
            person: person.to_owned(),
            entry: standing.entry,
            csrf: digest_of(&csrf),
            used: now,
            allowance: Allowance::whole(now),
        });
        Ok((cookie, csrf))
    }

    fn session(&mut self, cookie: &str, now: Instant) -> Option<&mut Session> {
        if cookie.len() > MAX_SECRET {
            return None;
        }
        let digest = digest_of(cookie);
        self.sessions
            .iter_mut()
            .find(|session| bool::from(session.digest.ct_eq(&digest)))
            .filter(|session| session.is_alive(now))
    }
}

impl Session {
    fn is_alive(&self, now: Instant) -> bool {
        now.duration_since(self.used) < SESSION_LASTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use serde_json::Value;

    use holdpoint_broker::people::{PeopleStore, Roster};

    struct Empty;

    impl PeopleStore for Empty {
        fn load(&self) -> Result<Roster, Problem> {
            Ok(Roster::default())
        }

        fn change(
            &self,
            _: &str,
            _: &Value,
            _: &mut dyn FnMut(&mut Roster) -> Result<(), Problem>,
        ) -> Result<(), Problem> {
            Err(Problem("nothing changes here".into()))
        }
    }

    fn auth() -> Auth {
        Auth::new(People::new(Arc::new(Empty), "dev"))
    }

    fn with_code(auth: &Auth, code: &str, now: Instant) -> Option<Admitted> {
        auth.sign_in(&Credentials::Code(code.to_owned()), now).ok()
    }

    #[test]
    fn a_restart_keeps_people_signed_in_and_whoever_signed_out_out() {
        let home = tempfile::tempdir().unwrap();
        let (file, now) = (home.path().join("sign-ins.json"), Instant::now());
        let again = || {
            let people = People::new(Arc::new(Empty), "dev");
            Auth::kept_at(people, file.clone(), now)
        };
        let before = again();
        let code = before.new_code("dev", now).unwrap();
        let Admitted { cookie, csrf, .. } = with_code(&before, &code, now).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&cookie) && !text.contains(&csrf), "{text}");
        let after = again();
        assert!(after.known_by(&cookie, now).unwrap().is_some());
        assert!(after.is_from_page(&cookie, &csrf, now));
        assert!(!after.is_from_page(&cookie, &cookie, now));
        after.sign_out(&cookie);
        assert!(again().known_by(&cookie, now).unwrap().is_none());
        std::fs::write(&file, b"{").unwrap();
        assert!(again().known_by(&cookie, now).unwrap().is_none());
    }

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let (auth, now) = (auth(), Instant::now());
        let code = auth.new_code("dev", now).unwrap();
        let admitted = with_code(&auth, &code, now).unwrap();
        assert_eq!(
            (admitted.name.as_str(), admitted.role),
            ("dev", Role::Admin)
        );
        assert!(with_code(&auth, &code, now).is_none(), "used twice");
        let late = auth.new_code("dev", now).unwrap();
        assert!(with_code(&auth, &late, now + CODE_LASTS).is_none());
        let stranger = auth.new_code("nobody", now).unwrap();
        assert!(with_code(&auth, &stranger, now).is_none());
    }

    #[test]
    fn a_session_ends_when_nobody_uses_it() {
        let (auth, now) = (auth(), Instant::now());
        let code = auth.new_code("dev", now).unwrap();
        let Admitted { cookie, csrf, .. } = with_code(&auth, &code, now).unwrap();
        let known = |now: Instant| auth.known_by(&cookie, now).unwrap().is_some();
        let used = |now: Instant| auth.used_by(&cookie, now).unwrap().is_some();
        assert!(auth.is_from_page(&cookie, &csrf, now));
        assert!(!auth.is_from_page(&cookie, &cookie, now));
        assert!(!auth.is_from_page("", "", now));
        let almost = SESSION_LASTS - Duration::from_secs(1);
        assert!(known(now + almost));
        assert!(!known(now + SESSION_LASTS), "a page that is only open");
        assert!(used(now + almost));
        assert!(used(now + almost + almost));
        assert!(!used(now + almost + almost + SESSION_LASTS));
        auth.sign_out(&cookie);
        assert!(!known(now));
    }

    #[test]
    fn there_are_never_more_than_so_many_sessions_and_codes() {
        let (auth, now) = (auth(), Instant::now());
        let mut first = None;
        for at in 0..MAX_SESSIONS + 10 {
            let now = now + Duration::from_millis(u64::try_from(at).unwrap());
            let code = auth.new_code("dev", now).unwrap();
            first.get_or_insert(with_code(&auth, &code, now).unwrap().cookie);
        }
        assert_eq!(auth.kept().sessions.len(), MAX_SESSIONS);
        assert!(auth.known_by(&first.unwrap(), now).unwrap().is_none());
        for _ in 0..100 {
            auth.new_code("dev", now).unwrap();
        }
        assert_eq!(auth.kept().codes.len(), MAX_CODES);
    }

    #[test]
    fn after_ten_wrong_ones_only_what_cannot_be_guessed_lets_in() {
        let (auth, now) = (auth(), Instant::now());
        let code = auth.new_code("dev", now).unwrap();
        for _ in 0..10 {
            let wrong = Credentials::Token {
                name: "dev".into(),
                token: "x".repeat(1000),
            };
            assert!(matches!(auth.sign_in(&wrong, now), Err(Shut::Wrong(_))));
        }
        for another in [
            Credentials::Code("x".into()),
            Credentials::Token {
                name: "dev".into(),
                token: "x".into(),
            },
        ] {
            assert!(matches!(
                auth.sign_in(&another, now),
                Err(Shut::TooOften(_))
            ));
        }
        assert!(auth.sign_in(&Credentials::Code(code), now).is_ok());
    }
}
