//! What a policy says about inspecting text, and what becomes of it when layers disagree.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use super::layer::{Policy, Trust};
use super::second_opinion::SecondOpinion;
use crate::glob::Glob;
use crate::text::Origin;
use crate::text::clean::Mode;
use crate::text::inspection::{Detectors, Ladder, Terms, Threshold, UserText};

/// What is done about text that gives orders, hides something or holds secrets.
///
/// Without it: from medium on a text goes on with a note, from high on without what was found in it,
/// from critical on something else stands in its place; what the user typed is only warned about.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Injection {
    /// Whether text is inspected at all; it is unless this says no.
    pub enabled: Option<bool>,
    /// From which severity on a text goes on with a note. Without it: medium.
    #[serde(alias = "annotate_at")]
    pub annotate_at: Option<Threshold>,
    /// From which severity on it is rejected: what was found in it stays behind. Without it: high.
    #[serde(alias = "reject_at")]
    pub reject_at: Option<Threshold>,
    /// From which severity on nothing of a rejected text goes on. Without it: critical.
    #[serde(alias = "block_at")]
    pub block_at: Option<Threshold>,
    /// What happens to what the user typed. Without it: warn.
    pub user: Option<UserText>,
    /// Other thresholds for texts of some origin.
    pub origins: Origins,
    /// Tools whose results nobody else can have written, by name or glob; all others are inspected.
    #[serde(alias = "internal_tools")]
    pub internal_tools: Option<Vec<String>>,
    /// Whose detectors look. Without it: all of Holdpoint's.
    pub detectors: Option<Detectors>,
    /// How a rejected text is cleaned. Without it: redact.
    pub clean: Option<Cleaning>,
    /// A model server of your own that the approval daemon asks about texts nobody is sure of. Without it: nobody is asked.
    #[serde(alias = "second_opinion")]
    pub second_opinion: Option<SecondOpinion>,
}

/// Other thresholds for texts of some origin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Origins {
    /// What tools answer.
    pub tool: Thresholds,
    /// What stands in files.
    pub file: Thresholds,
    /// What comes from the network.
    pub web: Thresholds,
    /// What describes a tool to the model.
    pub description: Thresholds,
}

/// The thresholds for one origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Thresholds {
    /// From which severity on a text goes on with a note.
    #[serde(alias = "annotate_at")]
    pub annotate_at: Option<Threshold>,
    /// From which severity on what was found in it stays behind.
    #[serde(alias = "reject_at")]
    pub reject_at: Option<Threshold>,
    /// From which severity on nothing of it goes on.
    #[serde(alias = "block_at")]
    pub block_at: Option<Threshold>,
}

/// How a rejected text is cleaned; the order is from the mildest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Cleaning {
    /// What was found stays readable, but nothing takes it for an order.
    Escape,
    /// A short note stands in its place.
    Redact,
    /// It is taken out.
    Remove,
}

/// The other spellings of the keys, for the schema; the reader has them as aliases.
#[cfg(feature = "schema")]
pub(super) const INJECTION_ALIASES: &[(&str, &[&str])] = &[
    ("internalTools", &["internal_tools"]),
    ("secondOpinion", &["second_opinion"]),
];
#[cfg(feature = "schema")]
pub(super) const THRESHOLD_ALIASES: &[(&str, &[&str])] = &[
    ("annotateAt", &["annotate_at"]),
    ("rejectAt", &["reject_at"]),
    ("blockAt", &["block_at"]),
];

impl Injection {
    /// What this says, replaced where the other says something.
    pub(super) fn joined(self, other: Self) -> Self {
        Self {
            enabled: other.enabled.or(self.enabled),
            annotate_at: other.annotate_at.or(self.annotate_at),
            reject_at: other.reject_at.or(self.reject_at),
            block_at: other.block_at.or(self.block_at),
            user: other.user.or(self.user),
            origins: Origins {
                tool: other.origins.tool.or(self.origins.tool),
                file: other.origins.file.or(self.origins.file),
                web: other.origins.web.or(self.origins.web),
                description: other.origins.description.or(self.origins.description),
            },
            internal_tools: other.internal_tools.or(self.internal_tools),
            detectors: other.detectors.or(self.detectors),
            clean: other.clean.or(self.clean),
            second_opinion: other.second_opinion.or(self.second_opinion),
        }
    }

    /// What it says for one origin.
    fn thresholds(&self, origin: Origin) -> Thresholds {
        let own = match origin {
            Origin::User => Thresholds::default(),
            Origin::Tool => self.origins.tool,
            Origin::File => self.origins.file,
            Origin::Web => self.origins.web,
            Origin::Description => self.origins.description,
        };
        own.or(Thresholds {
            annotate_at: self.annotate_at,
            reject_at: self.reject_at,
            block_at: self.block_at,
        })
    }
}

impl Thresholds {
    fn or(self, other: Self) -> Self {
        Self {
            annotate_at: self.annotate_at.or(other.annotate_at),
            reject_at: self.reject_at.or(other.reject_at),
            block_at: self.block_at.or(other.block_at),
        }
    }
}

/// Tools whose results are fixed texts or the model's own words. Whatever could carry somebody
/// else's text, an MCP server's memory included, is not among them (R-14).
const INTERNAL_TOOLS: &[&str] = &["TodoWrite", "EnterPlanMode", "ExitPlanMode"];

impl Policy {
    /// The terms on which texts are inspected under this policy. The first layer that speaks of
    /// something decides, and all others only tighten; a file nobody trusts never loosens.
    pub fn inspection_terms(&self) -> Terms {
        let ladder = |origin: Origin| {
            let said = |it: &Injection| it.thresholds(origin);
            let usual = Ladder::default();
            let annotate_at = self.settled(usual.annotate_at, |it| said(it).annotate_at, Ord::min);
            let reject_at = self.settled(usual.reject_at, |it| said(it).reject_at, Ord::min);
            // Who rejects nothing blocks nothing, unless they say so.
            let usual = usual.block_at.max(reject_at);
            Ladder {
                annotate_at,
                reject_at,
                block_at: self.settled(usual, |it| said(it).block_at, Ord::min),
            }
        };
        let cleaning = self.settled(Cleaning::Redact, |it| it.clean, Ord::max);
        Terms {
            enabled: self.inspects(),
            user: self.settled(UserText::default(), |it| it.user, Ord::max),
            ladders: Origin::ALL.map(ladder),
            detectors: self.detectors(),
            cleaning: match cleaning {
                Cleaning::Escape => Mode::Escape,
                Cleaning::Redact => Mode::Redact,
                Cleaning::Remove => Mode::Remove,
            },
        }
    }

    /// Whether the results of a tool are looked at: all are, but of the tools on the list of
    /// internal ones (R-14).
    pub fn inspects_tool(&self, tool: &str) -> bool {
        let tool = tool.to_lowercase();
        let named = |list: &Vec<Glob>| list.iter().any(|glob| glob.matches(&tool));
        self.inspects() && !self.internal_tools().iter().all(named)
    }

    /// Whether texts are looked at at all.
    fn inspects(&self) -> bool {
        self.settled(true, |it| it.enabled, |one, other| one || other)
    }

    /// What counts of something layers speak of.
    fn settled<T>(
        &self,
        usual: T,
        said: impl Fn(&Injection) -> Option<T>,
        stricter: impl Fn(T, T) -> T,
    ) -> T {
        let base = self.deciding(&said).unwrap_or(usual);
        self.layers()
            .iter()
            .filter_map(|layer| said(layer.injection.as_ref()?))
            .fold(base, stricter)
    }

    /// The word of the first layer that may decide.
    fn deciding<'p, T>(&'p self, said: impl Fn(&'p Injection) -> Option<T>) -> Option<T> {
        self.layers()
            .iter()
            .filter(|layer| layer.trust == Trust::Trusted)
            .find_map(|layer| said(layer.injection.as_ref()?))
    }

    /// Every detector some layer names: more of them never find less.
    fn detectors(&self) -> Vec<Detectors> {
        let mut all = vec![self.deciding(|it| it.detectors).unwrap_or(Detectors::All)];
        let named = self.layers().iter();
        all.extend(named.filter_map(|layer| layer.injection.as_ref()?.detectors));
        all.sort();
        all.dedup();
        all
    }

    /// The lists of internal tools; a tool must be on all of them.
    fn internal_tools(&self) -> Vec<Vec<Glob>> {
        let lists = self
            .layers()
            .iter()
            .filter_map(|layer| layer.injection.as_ref()?.internal_tools.as_ref());
        let mut lists: Vec<Vec<Glob>> = lists.map(|list| globs(list)).collect();
        if self.deciding(|it| it.internal_tools.as_ref()).is_none() {
            lists.push(globs(INTERNAL_TOOLS));
        }
        lists
    }
}

/// Names of tools as patterns; upper and lower case are the same.
fn globs<S: AsRef<str>>(names: &[S]) -> Vec<Glob> {
    names
        .iter()
        .map(|name| Glob::new(&name.as_ref().to_lowercase()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::layer::{Authority, Source};
    use super::*;
    use crate::Profile;
    use crate::text::{Action, Severity};

    use Authority::{Managed, Project, User};
    use Severity::{Critical, High, Low, Medium};
    use Trust::{Trusted, Untrusted};

    fn policy(layers: &[(Authority, Trust, &str)]) -> Policy {
        let sources = layers
            .iter()
            .map(|(authority, trust, text)| Source {
                name: "test".into(),
                authority: *authority,
                trust: *trust,
                bytes: format!("{{\"injection\":{text}}}").into_bytes(),
            })
            .collect();
        Policy::compile(sources).unwrap()
    }

    fn terms(layers: &[(Authority, Trust, &str)]) -> Terms {
        policy(layers).inspection_terms()
    }

    fn actions(terms: &Terms, origin: Origin) -> [Action; 4] {
        [Low, Medium, High, Critical].map(|severity| terms.action(origin, severity))
    }

    use Action::{Annotate, Block, Pass, Quarantine};

    // X-05, X-06, X-07
    #[test]
    fn nothing_said_means_the_usual_terms() {
        let terms = terms(&[]);
        assert_eq!(terms, Terms::default());
        let full = [Pass, Annotate, Quarantine, Block];
        assert_eq!(actions(&terms, Origin::Web), full);
        assert_eq!(actions(&terms, Origin::Description), full);
        let warned = [Pass, Annotate, Annotate, Annotate];
        assert_eq!(actions(&terms, Origin::User), warned);
    }

    #[test]
    fn thresholds_may_be_set_for_all_and_for_one_origin() {
        let terms = terms(&[(
            User,
            Trusted,
            r#"{"rejectAt": "medium", "annotate_at": "low", "user": "block",
                "origins": {"web": {"blockAt": "high"}, "file": {"reject_at": "never"}}}"#,
        )]);
        assert_eq!(
            actions(&terms, Origin::Tool),
            [Annotate, Quarantine, Quarantine, Block]
        );
        assert_eq!(
            actions(&terms, Origin::User),
            [Annotate, Quarantine, Quarantine, Block]
        );
        assert_eq!(
            actions(&terms, Origin::Web),
            [Annotate, Quarantine, Block, Block]
        );
        assert_eq!(actions(&terms, Origin::File), [Annotate; 4]);
    }

    #[test]
    fn layers_below_and_strangers_only_tighten() {
        let loose = r#"{"enabled": false, "rejectAt": "never", "annotateAt": "critical", "user": "off",
            "internalTools": ["*"], "clean": "escape"}"#;
        let strict = r#"{"enabled": true, "rejectAt": "medium", "annotateAt": "low", "user": "block",
            "internalTools": ["memory_*"], "clean": "remove"}"#;
        // A stranger's loose words change nothing.
        let unchanged = policy(&[(Project, Untrusted, loose)]);
        assert_eq!(unchanged.inspection_terms(), Terms::default());
        assert!(unchanged.inspects_tool("Read") && !unchanged.inspects_tool("TodoWrite"));
        let stricter = policy(&[(Project, Untrusted, strict)]);
        let tightened = stricter.inspection_terms();
        assert_eq!(
            actions(&tightened, Origin::User),
            [Annotate, Quarantine, Quarantine, Block]
        );
        assert_eq!(tightened.cleaning, Mode::Remove);
        assert!(stricter.inspects_tool("memory_recall") && stricter.inspects_tool("TodoWrite"));
        // The managed file's strict words stand against the user's loose ones.
        let floor = policy(&[(Managed, Trusted, strict), (User, Trusted, loose)]);
        let terms_of_floor = floor.inspection_terms();
        assert_eq!(
            actions(&terms_of_floor, Origin::Tool),
            [Annotate, Quarantine, Quarantine, Block]
        );
        assert!(terms_of_floor.inspects(Origin::User) && !floor.inspects_tool("memory_recall"));
        assert!(floor.inspects_tool("Read"));
        // Its loose words may be tightened.
        let both = terms(&[(Managed, Trusted, loose), (User, Trusted, strict)]);
        assert_eq!(
            actions(&both, Origin::Tool),
            [Annotate, Quarantine, Quarantine, Block]
        );
        let off = policy(&[(User, Trusted, loose)]);
        assert!(!off.inspection_terms().inspects(Origin::Tool) && !off.inspects_tool("Read"));
    }

    // R-14
    #[test]
    fn only_tools_on_the_list_are_internal() {
        let usual = policy(&[]);
        for tool in [
            "Bash",
            "Read",
            "WebFetch",
            "mcp__memory__recall",
            "mcp_x",
            "memory_recall",
        ] {
            assert!(usual.inspects_tool(tool), "{tool}");
        }
        assert!(!usual.inspects_tool("TodoWrite"));
        let rrclaw = Policy::profile(Profile::Rrclaw).unwrap();
        for tool in ["memory_recall", "skill", "self_info", "config", "routine"] {
            assert!(!rrclaw.inspects_tool(tool), "{tool}");
        }
        for tool in [
            "shell",
            "file_read",
            "git",
            "http_request",
            "mcp_memory_x",
            "skills",
        ] {
            assert!(rrclaw.inspects_tool(tool), "{tool}");
        }
    }

    // O-04, X-06
    #[test]
    fn obra_rejects_what_its_code_or_its_configuration_rejects() {
        let of = |profile| Policy::profile(profile).unwrap().inspection_terms();
        let code = of(Profile::Obra);
        assert_eq!(
            actions(&code, Origin::User),
            [Pass, Quarantine, Block, Block]
        );
        assert_eq!(
            actions(&code, Origin::Tool),
            [Pass, Quarantine, Block, Block]
        );
        let configuration = of(Profile::ObraConfig);
        assert_eq!(
            actions(&configuration, Origin::User),
            [Pass, Block, Block, Block]
        );
        let rrclaw = of(Profile::Rrclaw);
        assert_eq!(
            actions(&rrclaw, Origin::Tool),
            [Pass, Annotate, Block, Block]
        );
        assert_eq!(
            actions(&rrclaw, Origin::User),
            [Pass, Annotate, Annotate, Annotate]
        );
    }

    #[test]
    fn the_two_profiles_of_obra_differ_in_what_they_reject_only() {
        let mut code = Profile::Obra.document().unwrap();
        let configuration = Profile::ObraConfig.document().unwrap();
        assert_ne!(code, configuration);
        code.injection.clone_from(&configuration.injection);
        assert_eq!(code, configuration);
    }

    #[test]
    fn an_unknown_word_is_an_error_with_a_suggestion() {
        let of = |text: &str| Policy::from_text("p", text).unwrap_err().to_string();
        let error = of(r#"{"injection": {"rejectAt": "hihg"}}"#);
        assert!(error.contains("did you mean `high`?"), "{error}");
        let error = of(r#"{"injection": {"user": "blok"}}"#);
        assert!(error.contains("did you mean `block`?"), "{error}");
        let error = of(r#"{"injection": {"rejectat": "high"}}"#);
        assert!(error.contains("did you mean `rejectAt`?"), "{error}");
        let error = of(r#"{"injection": {"origins": {"user": {}}}}"#);
        assert!(error.contains("unknown key `user`"), "{error}");
    }
}
