//! Who may look at what is held, and who may answer: named people, and who stands in for whom.
//!
//! The owner of the account the daemon runs under is always one of them and needs no entry. Of a
//! person's token only the digest is kept. Where the list is kept, and that a change is on record
//! before it is made, is the business of a [`PeopleStore`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::document;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::host::Problem;
use crate::time::UnixMillis;
use crate::wire::{hex, unguessable};

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look.
    Viewer,
    /// Look and answer.
    Approver,
    /// The same, and look after the list of people.
    Admin,
}

impl Role {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Approver => "approver",
            Role::Admin => "admin",
        }
    }

    /// Whether they may answer.
    pub fn answers(self) -> bool {
        match self {
            Role::Viewer => false,
            Role::Approver | Role::Admin => true,
        }
    }
}

/// Somebody on the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// Their name, as rules and records write it.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// `sha256:…` of what they sign in with.
    pub token: String,
}

/// Somebody answers in somebody else's place, for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// In whose place.
    pub from: String,
    /// Who answers.
    pub to: String,
    /// The first moment it no longer counts.
    pub until: UnixMillis,
}

/// The list of people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roster {
    /// Everybody but the owner, who may be on it too.
    pub people: Vec<Person>,
    /// Who stands in for whom.
    pub delegations: Vec<Delegation>,
}

/// The largest list that is read: more than `MAX_ENTRIES` of each take. A larger one is an error.
pub const MAX_ROSTER: u64 = 1 << 20;

/// The most people, and the most delegations; each is compared with whoever signs in. More are refused.
const MAX_ENTRIES: usize = 1000;

/// The longest time for which somebody may stand in: a holiday. Whoever is away for longer is replaced.
pub const MAX_DELEGATION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How every token begins, so that people and scanners know one when they see it.
const TOKEN_MARK: &str = "hpt_";

impl Roster {
    /// Reads a list; `name` is how messages call it.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let roster: Roster = document::read(name, bytes)
            .map_err(|error| Problem(format!("{name}: {}", error.message())))?;
        let checked = roster.check();
        checked.map_err(|problem| Problem(format!("{name}: {problem}")))?;
        Ok(roster)
    }

    fn check(&self) -> Result<(), Problem> {
        if self.people.len() > MAX_ENTRIES || self.delegations.len() > MAX_ENTRIES {
            return Err(Problem(format!(
                "there are more than {MAX_ENTRIES} entries: remove some"
            )));
        }
        let mut names = BTreeSet::new();
        for person in &self.people {
            check_name(&person.name)?;
            if !names.insert(&person.name) {
                return Err(Problem(format!(
                    "`{}` is there twice: remove one of the two",
                    person.name
                )));
            }
            if digest_in(&person.token).is_none() {
                return Err(Problem(format!(
                    "the token of `{}` is no digest: make one with `holdpoint people add`",
                    person.name
                )));
            }
        }
        Ok(())
    }

    /// Somebody by their name.
    pub fn find(&self, name: &str) -> Option<&Person> {
        self.people.iter().find(|person| person.name == name)
    }

    /// Adds somebody. What comes back is the token they sign in with; it is kept nowhere.
    pub fn add(&mut self, name: &str, role: Role) -> Result<String, Problem> {
        check_name(name)?;
        if self.find(name).is_some() {
            return Err(Problem(format!(
                "`{name}` is on the list already: remove them first to give them a new token"
            )));
        }
        if self.people.len() >= MAX_ENTRIES {
            return Err(Problem(format!("there are {MAX_ENTRIES} people already")));
        }
        let token = format!("{TOKEN_MARK}{}", unguessable::<32>()?);
        self.people.push(Person {
            name: name.to_owned(),
            role,
            token: format!("sha256:{}", hex(&digest_of(&token))),
        });
        Ok(token)
    }

    /// Removes somebody, and what they delegated or were asked to stand in for.
    pub fn remove(&mut self, name: &str) -> Result<(), Problem> {
        if self.find(name).is_none() {
            return Err(Problem(format!("`{name}` is not on the list")));
        }
        self.people.retain(|person| person.name != name);
        self.delegations
            .retain(|one| one.from != name && one.to != name);
        Ok(())
    }

    /// Ends a delegation; says whether there was one.
    pub fn undelegate(&mut self, from: &str, to: &str) -> bool {
        let before = self.delegations.len();
        self.delegations
            .retain(|one| one.from != from || one.to != to);
        self.delegations.len() < before
    }

    /// Forgets delegations that have ended.
    pub fn forget_ended(&mut self, now: UnixMillis) {
        self.delegations.retain(|one| one.until > now);
    }
}

/// Where the list of people is kept.
pub trait PeopleStore: Send + Sync {
    /// The list as it is now; one that does not exist is empty.
    fn load(&self) -> Result<Roster, Problem>;

    /// Changes the list: takes the newest one, edits it, puts on record `what` is done by whom, and
    /// stores it. On an error of any of them nothing has changed.
    fn change(
        &self,
        by: &str,
        what: &Value,
        edit: &mut dyn FnMut(&mut Roster) -> Result<(), Problem>,
    ) -> Result<(), Problem>;
}

/// Somebody as they stand now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What they may do.
    pub role: Role,
    /// Their entry. Somebody who was taken off the list and put on it again has another.
    pub entry: String,
}

/// Everybody who may sign in: the owner of the account, and whoever is on the list.
#[derive(Clone)]
pub struct People {
    store: Arc<dyn PeopleStore>,
    owner: String,
}

impl People {
    /// The people of the account of `owner`.
    pub fn new(store: Arc<dyn PeopleStore>, owner: impl Into<String>) -> Self {
        Self {
            store,
            owner: owner.into(),
        }
    }

    /// The owner of the account.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The list.
    pub fn roster(&self) -> Result<Roster, Problem> {
        self.store.load()
    }

    /// Who has this name now; none if nobody has. The owner is known without the list, so that a
    /// damaged one does not shut them out.
    pub fn standing(&self, name: &str) -> Result<Option<Standing>, Problem> {
        if name == self.owner {
            return Ok(Some(Standing {
                role: Role::Admin,
                entry: String::new(),
            }));
        }
        let roster = self.store.load()?;
        Ok(roster.find(name).map(|person| Standing {
            role: person.role,
            entry: person.token.clone(),
        }))
    }

    /// The person with this name and this token; none if there is no such person. A name that is not
    /// known takes as long as one that is.
    pub fn known_by(&self, name: &str, token: &str) -> Result<Option<Standing>, Problem> {
        let roster = self.store.load()?;
        let given = digest_of(token);
        let person = roster.find(name);
        let kept = person.and_then(|person| digest_in(&person.token));
        let same = bool::from(kept.unwrap_or_default().ct_eq(&given)) && kept.is_some();
        match same {
            true => self.standing(name),
            false => Ok(None),
        }
    }

    /// In whose place somebody may answer now.
    pub fn stands_in_for(&self, name: &str, now: UnixMillis) -> Result<Vec<String>, Problem> {
        let roster = self.store.load()?;
        let mut principals = Vec::new();
        for one in &roster.delegations {
            // Somebody who may not answer, or is gone, has nothing to hand on.
            if one.to == name && one.until > now && self.answers(&roster, &one.from) {
                principals.push(one.from.clone());
            }
        }
        Ok(principals)
    }

    /// Adds somebody; what comes back is the token they sign in with.
    pub fn add(&self, by: &str, name: &str, role: Role) -> Result<String, Problem> {
        if name == self.owner && role != Role::Admin {
            return Err(Problem(format!(
                "`{name}` owns this account and is its admin: add them with the role admin"
            )));
        }
        let mut token = None;
        let what = json!({"action": "add person", "name": name, "role": role});
        self.store.change(by, &what, &mut |roster| {
            token = Some(roster.add(name, role)?);
            Ok(())
        })?;
        token.ok_or_else(|| Problem("the list of people was not changed".into()))
    }

    /// Removes somebody.
    pub fn remove(&self, by: &str, name: &str) -> Result<(), Problem> {
        let what = json!({"action": "remove person", "name": name});
        self.store
            .change(by, &what, &mut |roster| roster.remove(name))
    }

    /// Has `to` answer in the place of `from` until `until`.
    pub fn delegate(
        &self,
        by: &str,
        delegation: &Delegation,
        now: UnixMillis,
    ) -> Result<(), Problem> {
        let Delegation { from, to, until } = delegation;
        if from == to {
            return Err(Problem("nobody needs to stand in for themselves".into()));
        }
        if *until <= now || *until > now.after(MAX_DELEGATION) {
            return Err(Problem(
                "somebody may stand in for 1 second to 30 days".into(),
            ));
        }
        let what = json!({
            "action": "delegate", "from": from, "to": to, "until": until,
        });
        self.store.change(by, &what, &mut |roster| {
            for name in [from, to] {
                if !self.answers(roster, name) {
                    return Err(Problem(format!(
                        "`{name}` may not answer, so they can neither hand that on nor stand in"
                    )));
                }
            }
            roster.forget_ended(now);
            roster.undelegate(from, to);
            if roster.delegations.len() >= MAX_ENTRIES {
                return Err(Problem(format!(
                    "there are {MAX_ENTRIES} delegations already"
                )));
            }
            roster.delegations.push(delegation.clone());
            Ok(())
        })
    }

    /// Ends a delegation; says whether there was one.
    pub fn undelegate(&self, by: &str, from: &str, to: &str) -> Result<bool, Problem> {
        let mut ended = false;
        let what = json!({"action": "undelegate", "from": from, "to": to});
        self.store.change(by, &what, &mut |roster| {
            ended = roster.undelegate(from, to);
            Ok(())
        })?;
        Ok(ended)
    }

    fn answers(&self, roster: &Roster, name: &str) -> bool {
        name == self.owner || roster.find(name).is_some_and(|one| one.role.answers())
    }
}

/// Whether a name can be told apart from others when it is read, and from what is no name.
fn check_name(name: &str) -> Result<(), Problem> {
    let plain = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "._@+-".contains(c));
    if plain {
        return Ok(());
    }
    Err(Problem(format!(
        "`{}` is no name: use up to 64 letters, digits and . _ @ + -",
        name.chars().take(80).collect::<String>().escape_debug()
    )))
}

/// The bytes of `sha256:…`.
fn digest_in(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:")?;
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        if !pair.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

/// The digest under which a secret is kept.
pub fn digest_of(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct InMemory(Mutex<(Roster, Vec<Value>)>);

    impl PeopleStore for InMemory {
        fn load(&self) -> Result<Roster, Problem> {
            Ok(self.0.lock().unwrap().0.clone())
        }

        fn change(
            &self,
            _: &str,
            what: &Value,
            edit: &mut dyn FnMut(&mut Roster) -> Result<(), Problem>,
        ) -> Result<(), Problem> {
            let mut held = self.0.lock().unwrap();
            let mut roster = held.0.clone();
            edit(&mut roster)?;
            *held = (roster, [held.1.clone(), vec![what.clone()]].concat());
            Ok(())
        }
    }

    fn people() -> (People, Arc<InMemory>) {
        let store = Arc::new(InMemory::default());
        (People::new(store.clone(), "dev"), store)
    }

    #[test]
    fn a_token_is_known_by_its_digest_alone() {
        let (people, store) = people();
        let token = people.add("dev", "ann", Role::Approver).unwrap();
        let kept = serde_json::to_string(&store.load().unwrap()).unwrap();
        assert!(!kept.contains(&token), "{kept}");
        assert!(!format!("{:?}", store.0.lock().unwrap().1).contains(&token));
        let known = |name: &str, token: &str| {
            let known = people.known_by(name, token).unwrap();
            known.map(|standing| standing.role)
        };
        assert_eq!(known("ann", &token), Some(Role::Approver));
        assert_eq!(known("ann", "hpt_other"), None);
        assert_eq!(known("bob", &token), None);
        // The owner signs in from their own account; without an entry no token is theirs.
        assert_eq!(known("dev", ""), None);
        people.remove("dev", "ann").unwrap();
        assert_eq!(known("ann", &token), None);
    }

    #[test]
    fn the_owner_is_always_an_admin() {
        let (people, _) = people();
        assert_eq!(people.standing("dev").unwrap().unwrap().role, Role::Admin);
        assert_eq!(people.standing("ann").unwrap(), None);
        assert!(people.add("dev", "dev", Role::Viewer).is_err());
        let token = people.add("dev", "dev", Role::Admin).unwrap();
        let known = people.known_by("dev", &token).unwrap().unwrap();
        assert_eq!(known.role, Role::Admin);
    }

    #[test]
    fn somebody_stands_in_while_it_lasts_and_no_longer() {
        let (people, _) = people();
        people.add("dev", "ann", Role::Approver).unwrap();
        people.add("dev", "bob", Role::Approver).unwrap();
        people.add("dev", "vic", Role::Viewer).unwrap();
        let now = UnixMillis(1_000_000);
        let until = now.after(Duration::from_secs(60));
        let delegate = |from: &str, to: &str, until: UnixMillis| {
            let (from, to) = (from.to_owned(), to.to_owned());
            people.delegate("dev", &Delegation { from, to, until }, now)
        };
        delegate("ann", "bob", until).unwrap();
        assert_eq!(people.stands_in_for("bob", now).unwrap(), ["ann"]);
        assert!(people.stands_in_for("ann", now).unwrap().is_empty());
        assert!(people.stands_in_for("bob", until).unwrap().is_empty());
        for (from, to, until) in [
            ("ann", "ann", until),
            ("ann", "vic", until),
            ("vic", "bob", until),
            ("ann", "nobody", until),
            ("ann", "bob", now),
            ("ann", "bob", UnixMillis(u64::MAX)),
        ] {
            assert!(delegate(from, to, until).is_err(), "{from} {to} {until:?}");
        }
        people.remove("dev", "ann").unwrap();
        assert!(people.stands_in_for("bob", now).unwrap().is_empty());
    }

    #[test]
    fn what_was_handed_on_is_not_handed_on_again() {
        let (people, _) = people();
        for name in ["ann", "bob", "cyd"] {
            people.add("dev", name, Role::Approver).unwrap();
        }
        let now = UnixMillis(0);
        for (from, to) in [("ann", "bob"), ("bob", "cyd")] {
            let delegation = Delegation {
                from: from.into(),
                to: to.into(),
                until: UnixMillis(9_000),
            };
            people.delegate("dev", &delegation, now).unwrap();
        }
        assert_eq!(people.stands_in_for("cyd", now).unwrap(), ["bob"]);
    }

    #[test]
    fn a_list_with_a_slip_is_refused_in_one_line() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let person = |name: &str, token: &str| {
            json!({"people": [{"name": name, "role": "viewer", "token": token}]}).to_string()
        };
        assert!(Roster::read("p", person("ann", &digest).as_bytes()).is_ok());
        for text in [
            person("", &digest),
            person("a b", &digest),
            person("(nobody)", &digest),
            person("ann", "secret"),
            person("ann", "sha256:+a"),
            person("ann", &format!("sha256:{}", "+a".repeat(32))),
            r#"{"peeple":[]}"#.to_owned(),
            r#"{"people":[{"name":"a","role":"king","token":"x"}]}"#.to_owned(),
            "[".to_owned(),
        ] {
            let Problem(problem) = Roster::read("people.json", text.as_bytes()).unwrap_err();
            assert!(problem.starts_with("people.json: "), "{problem}");
            assert_eq!(problem.lines().count(), 1, "{problem}");
        }
        let twice = json!({"people": [
            {"name": "ann", "role": "viewer", "token": digest},
            {"name": "ann", "role": "admin", "token": digest},
        ]});
        assert!(Roster::read("p", twice.to_string().as_bytes()).is_err());
    }
}
