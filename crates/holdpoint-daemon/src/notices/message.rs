//! What a messenger is sent: few words, without secrets and of bounded length, and the way to the request's page.
//!
//! Nothing of a call is markup: each service has a form of text it does not interpret, or the text is escaped, so that no call
//! draws a link, mentions a channel or hides the button.

use holdpoint_broker::{ChannelError, Request, UnixMillis};
use holdpoint_core::policy::ChannelFormat;
use holdpoint_core::text::escape_for_display;
use holdpoint_core::{Risk, Timestamp};
use serde_json::{Value, json};
use ureq::http::Uri;

use crate::webhook::{Endpoint, unusable};

/// The most characters of a call, of a reason and of a directory: what a telephone shows of a notification, and little of what
/// is private.
const MAX_SUMMARY: usize = 160;
const MAX_REASON: usize = 200;
const MAX_DIRECTORY: usize = 80;
/// The most characters of a name somebody else chose (an agent's, a tool's, a rule's).
const MAX_NAME: usize = 60;

/// What is said of calls that wait.
pub(super) struct Message {
    risk: Risk,
    title: String,
    /// What the call is; none where the policy keeps it back.
    summary: Option<String>,
    facts: Vec<(&'static str, String)>,
    link: String,
}

impl Message {
    /// That one call waits.
    pub(super) fn about(request: &Request, page: &str, details: bool) -> Self {
        let (asked, decision) = (&request.asked, &request.decision);
        let agent = escape_for_display(&asked.agent, MAX_NAME);
        let mut facts = vec![("Risk", decision.risk.as_str().to_owned())];
        if details {
            facts.push(("Tool", escape_for_display(&asked.tool, MAX_NAME)));
            facts.push(("Reason", escape_for_display(&decision.reason, MAX_REASON)));
            facts.push((
                "Directory",
                escape_for_display(&asked.directory, MAX_DIRECTORY),
            ));
        }
        if let Some(rule) = &decision.rule {
            facts.push(("Rule", escape_for_display(rule, MAX_NAME)));
        }
        if let Some(time) = request.expires.and_then(time_of_day) {
            facts.push(("Refused at", time));
        }
        Self {
            risk: decision.risk,
            title: format!("Holdpoint holds a call of {agent}"),
            summary: details.then(|| escape_for_display(&request.display.summary, MAX_SUMMARY)),
            facts,
            link: format!("{page}#request/{}", request.id),
        }
    }

    /// That many wait.
    pub(super) fn counting(count: usize, page: &str) -> Self {
        Self {
            risk: Risk::High,
            title: format!("Holdpoint holds {count} calls"),
            summary: None,
            facts: Vec::new(),
            link: page.to_owned(),
        }
    }

    /// The body of the request that posts it.
    pub(super) fn body(&self, format: ChannelFormat, topic: &str) -> Vec<u8> {
        let body = match format {
            // Never asked for: a webhook of ours is asked, not told.
            ChannelFormat::Holdpoint => Value::Null,
            ChannelFormat::Ntfy => self.ntfy(topic),
            ChannelFormat::Slack => self.slack(),
            ChannelFormat::Teams => self.teams(),
        };
        body.to_string().into_bytes()
    }

    fn ntfy(&self, topic: &str) -> Value {
        let (priority, tag) = match self.risk {
            Risk::None | Risk::Low => (3, "raised_hand"),
            Risk::Medium => (3, "raised_hand"),
            Risk::High => (4, "warning"),
            Risk::Critical => (5, "rotating_light"),
        };
        let lines = self.summary.iter().cloned();
        let facts = self
            .facts
            .iter()
            .map(|(name, text)| format!("{name}: {text}"));
        let lines: Vec<String> = lines.chain(facts).collect();
        json!({
            "topic": topic,
            "title": self.title,
            "message": lines.join("\n"),
            "priority": priority,
            "tags": [tag],
            "click": self.link,
            "actions": [{ "action": "view", "label": LABEL, "url": self.link }],
        })
    }

    fn slack(&self) -> Value {
        let plain = |text: &str| json!({ "type": "plain_text", "text": text, "emoji": false });
        let link = json!({
            "type": "section",
            "text": { "type": "mrkdwn", "text": format!("<{}|{LABEL}>", for_slack(&self.link)) },
        });
        let mut blocks = vec![json!({ "type": "header", "text": plain(&self.title) })];
        if let Some(summary) = &self.summary {
            blocks.push(json!({ "type": "section", "text": plain(summary) }));
        }
        if !self.facts.is_empty() {
            let facts = self
                .facts
                .iter()
                .map(|(name, text)| plain(&format!("{name}: {text}")));
            blocks.push(json!({ "type": "context", "elements": facts.collect::<Vec<_>>() }));
        }
        blocks.push(link);
        let whole = match &self.summary {
            Some(summary) => format!("{}: {summary}", self.title),
            None => self.title.clone(),
        };
        // What a notification shows in place of the blocks.
        json!({ "text": for_slack(&whole), "blocks": blocks })
    }

    fn teams(&self) -> Value {
        let text = |text: &str, weight: &str, font: &str| {
            json!({
                "type": "RichTextBlock",
                "inlines": [{ "type": "TextRun", "text": text, "weight": weight, "fontType": font }],
            })
        };
        let mut body = vec![text(&self.title, "Bolder", "Default")];
        if let Some(summary) = &self.summary {
            body.push(text(summary, "Default", "Monospace"));
        }
        for (name, said) in &self.facts {
            body.push(text(&format!("{name}: {said}"), "Default", "Default"));
        }
        json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": null,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": body,
                    "actions": [{ "type": "Action.OpenUrl", "title": LABEL, "url": self.link }],
                },
            }],
        })
    }
}

const LABEL: &str = "Open the request";

/// Where a message goes, and the topic it is of: ntfy reads messages at the root of its server, and takes the topic from them.
pub(super) fn addressed(
    format: ChannelFormat,
    endpoint: Endpoint,
) -> Result<(Endpoint, String), ChannelError> {
    match format {
        ChannelFormat::Holdpoint | ChannelFormat::Slack | ChannelFormat::Teams => {
            Ok((endpoint, String::new()))
        }
        ChannelFormat::Ntfy => {
            let (root, topic) = root_and_topic(endpoint.uri()).ok_or_else(|| {
                unusable("`endpoint` names no topic: write https://ntfy.sh/TOPIC")
            })?;
            Ok((endpoint.at_path(&root)?, topic))
        }
    }
}

fn root_and_topic(uri: &Uri) -> Option<(String, String)> {
    let (before, topic) = uri.path().rsplit_once('/')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let usable = !topic.is_empty() && topic.chars().all(plain) && uri.query().is_none();
    usable.then(|| (format!("{before}/"), topic.to_owned()))
}

/// Text of somebody else's in Slack's markup.
fn for_slack(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A moment as a clock shows it in UTC.
fn time_of_day(moment: UnixMillis) -> Option<String> {
    let written = Timestamp::from_micros(moment.0.saturating_mul(1000)).to_string();
    written.get(11..16).map(|time| format!("{time} UTC"))
}
