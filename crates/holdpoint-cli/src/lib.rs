//! What the `holdpoint` program is made of besides its commands: the files it scans, the report it
//! writes, what the daemon's page shows, how a person's own policy is changed and made of other tools' settings.

pub mod import;
pub mod policy_text;
pub mod report;
pub mod scan;
mod views;

pub use views::LocalViews;
