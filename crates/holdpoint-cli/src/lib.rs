//! What the `holdpoint` program is made of besides its commands: the files it scans, the report it
//! writes, and what the daemon's page shows.

pub mod report;
pub mod scan;
mod views;

pub use views::LocalViews;
