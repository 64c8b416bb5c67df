//! The channel a policy names, made from its settings. One that cannot be made is an error, never
//! another channel (J-10).

use std::path::{Path, PathBuf};

use holdpoint_core::policy::{Channel as Written, ChannelKind, ChannelText};
use holdpoint_core::text::escape_for_display;

use super::console::{Console, Settings, editor_of, wants_no_colour};
use super::{Channel, ChannelError};

/// What a channel needs of the process it works in.
pub struct Setting<'a> {
    /// The name of the account this process runs under: who answers at its terminal, and in files
    /// only it can write.
    pub approver: String,
    /// The file that is locked while the console asks, so that one process does at a time.
    pub prompt_lock: Option<PathBuf>,
    /// Looks a variable of the environment up.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// What makes the webhook channel, in a program that has a client of HTTP.
    pub webhooks: Option<WebhookBuilder>,
}

/// Makes a webhook channel of its settings, the file of certificates they name, and a look-up of
/// variables of the environment.
///
/// The channel needs a client of HTTP and TLS, which whoever only judges calls or asks on a terminal
/// should not have to build: the program that brings them hands this over.
pub type WebhookBuilder = fn(
    settings: &ChannelText,
    ca_file: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Box<dyn Channel>, ChannelError>;

/// Makes the channel `written` names. The daemon and the agent's own dialog are not among those that
/// ask from here.
pub fn build(written: &Written, setting: &Setting<'_>) -> Result<Box<dyn Channel>, ChannelError> {
    let settings = &written.settings;
    match written.kind {
        ChannelKind::Console => Ok(Box::new(Console::on_terminal(Settings {
            approver: setting.approver.clone(),
            colours: settings.use_colors.unwrap_or(true) && !wants_no_colour(setting.environment),
            lock: setting.prompt_lock.clone(),
            editor: editor_of(setting.environment),
        }))),
        ChannelKind::Webhook => {
            let ca_file = settings.ca_file.as_deref();
            let ca_file = ca_file
                .map(|path| place(path, "ca_file", setting))
                .transpose()?;
            let Some(webhook) = setting.webhooks else {
                return Err(ChannelError::Unusable(
                    "this program asks no webhooks: it was built without them".into(),
                ));
            };
            webhook(settings, ca_file.as_deref(), setting.environment)
        }
        ChannelKind::File => {
            let Some(base) = settings.base_path.as_deref() else {
                return Err(ChannelError::Unusable(
                    "a file channel needs `base_path`".into(),
                ));
            };
            through_files(
                &place(base, "base_path", setting)?,
                settings.poll_interval,
                setting,
            )
        }
        ChannelKind::Daemon | ChannelKind::Agent => Err(ChannelError::Unusable(
            "this channel is not one the hook asks through itself".into(),
        )),
    }
}

#[cfg(unix)]
fn through_files(
    base: &Path,
    pace: Option<f64>,
    setting: &Setting<'_>,
) -> Result<Box<dyn Channel>, ChannelError> {
    let channel = super::file::FileChannel::new(base, pace, &setting.approver);
    Ok(Box::new(channel))
}

#[cfg(not(unix))]
fn through_files(
    _base: &Path,
    _pace: Option<f64>,
    _setting: &Setting<'_>,
) -> Result<Box<dyn Channel>, ChannelError> {
    Err(ChannelError::Unusable(
        "the file channel needs a system that knows whose a file is".into(),
    ))
}

/// A path of the settings. A relative one would lead to wherever the agent happens to be.
fn place(written: &str, key: &str, setting: &Setting<'_>) -> Result<PathBuf, ChannelError> {
    let home = || (setting.environment)("HOME").filter(|home| !home.is_empty());
    let path = match (written.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        (Some(_), None) | (None, _) => PathBuf::from(written),
    };
    match path.is_absolute() {
        true => Ok(path),
        false => Err(ChannelError::Unusable(format!(
            "`{key}` is `{}`: write the whole path, or one that starts with ~/",
            escape_for_display(written, 300)
        ))),
    }
}
