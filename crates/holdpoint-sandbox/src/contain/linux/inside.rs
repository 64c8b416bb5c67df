//! The second stage of a sandbox that bubblewrap has made: the first process inside. It takes nothing for granted: the
//! namespaces and mounts that were asked for are looked at before anything runs.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use super::init;
use super::landlock::{Right, Rules};
use super::order::{self, Order};
use super::payload::Payload;
use super::report::Report;
use super::start::Inner;
use super::walls;
use super::{IN_OWN_NETWORK, Plan, path_text, sys};
use crate::contain::{Limits, Step, Tier};

/// The first argument by which this program is started as the second stage.
pub(super) const WORD: &str = "--inside-bubblewrap";

/// What a message to the supervisor holds: everything stands, and the command is about to start.
pub(super) const STANDS: u8 = b'S';

/// The longest order: a command line and its variables, which the system bounds too.
const MAX_ORDER: u64 = 64 << 20;

/// Does the second stage if the arguments are its own. Whoever calls it otherwise is told nothing and gets nothing: only the
/// first process of a namespace goes on, and only where it finds walls around itself.
pub(super) fn called(mut arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    const REFUSED: u8 = 125;
    if arguments.nth(1)? != WORD {
        return None;
    }
    if std::process::id() != 1 {
        return Some(REFUSED);
    }
    let numbers: Vec<RawFd> = arguments
        .filter_map(|argument| argument.to_str()?.parse().ok())
        .filter(|number| *number > libc::STDERR_FILENO)
        .collect();
    let [order, report, channel, errors] = numbers.as_slice() else {
        return Some(REFUSED);
    };
    let [order, report, channel, errors] = [order, report, channel, errors].map(|number| {
        // SAFETY: this program was started with these descriptors for it alone; a wrong one is refused by the first use.
        unsafe { OwnedFd::from_raw_fd(*number) }
    });
    let inner = Inner {
        report: Report::new(report),
        channel: UnixDatagram::from(channel),
        joined: false,
        gateway: None,
    };
    // The supervisor may have gone while bubblewrap was at work.
    init::begin(None, &inner.report);
    match prepare(File::from(order), errors) {
        Ok(payload) => init::run_prepared(&payload, &inner),
        Err((step, error)) => inner.report.failed(step, &error),
    }
    Some(REFUSED)
}

fn prepare(order: File, errors: OwnedFd) -> Result<Payload, (Step, io::Error)> {
    let at = |step| move |error: io::Error| (step, error);
    sys::duplicate(errors.as_fd(), libc::STDERR_FILENO).map_err(at(Step::Payload))?;
    drop(errors);
    let mut bytes = Vec::new();
    order
        .take(MAX_ORDER)
        .read_to_end(&mut bytes)
        .map_err(at(Step::Payload))?;
    let order = Order::from_bytes(&bytes).map_err(at(Step::Payload))?;
    let shared = |(name, here): &(OsString, OsString)| {
        let there = order.outside.iter().find(|(one, _)| one == name);
        there.is_none_or(|(_, there)| there == here)
    };
    let here = order::namespaces().map_err(at(Step::Namespaces))?;
    if here.iter().any(shared) {
        return Err((Step::Namespaces, io::Error::from_raw_os_error(libc::EPERM)));
    }
    let breach = walls::breach(&order.walls).map_err(at(Step::Given))?;
    if breach.is_some() {
        return Err((Step::ReadOnly, io::Error::from_raw_os_error(libc::EPERM)));
    }
    payload(order).map_err(at(Step::Payload))
}

fn payload(order: Order) -> io::Result<Payload> {
    let trees = order
        .writable
        .iter()
        .map(|path| Ok((path_text(path)?, Right::Write)))
        .collect::<io::Result<_>>()?;
    let rules = Rules {
        reading: false,
        no_tcp: false,
        trees,
    };
    let directory = path_text(&order.directory)?;
    let plan = Plan {
        command: order.command,
        environment: order.environment,
        directory: order.directory,
        writable: order.writable,
        readable: Vec::new(),
        home: None,
        hidden: Vec::new(),
        protected: Vec::new(),
        pinned: Vec::new(),
        journals: PathBuf::new(),
        limits: Limits {
            file_size: order.file_size,
            processes: order.processes,
            ..Limits::default()
        },
        floor: Tier::Full,
        hosts: Vec::new(),
        session: None,
        tracing: order.tracing,
        notice: order.notice,
        stops: Vec::new(),
    };
    Payload::new(&plan, rules, IN_OWN_NETWORK, Some(directory))
        .map_err(|error| io::Error::other(error.to_string()))
}
