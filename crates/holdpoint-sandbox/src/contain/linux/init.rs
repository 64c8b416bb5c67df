//! The first process inside: it lays out the files, starts the command, reaps what that leaves and says how it ended.
//!
//! The command is not this process itself: the first process of a pid namespace is spared the signals it does not
//! handle, and a command that ignores Ctrl-C is no use.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_int, pid_t};

use super::layout::Layout;
use super::payload::Payload;
use super::report::Report;
use super::sys::{self, Answer, Side};
use crate::contain::Step;

/// Before anything else: ends with the supervisor, and waits for its word that the users are known.
pub(super) fn begin(go: OwnedFd, report: &Report) {
    // First, or a supervisor that is killed right now leaves a sandbox alive.
    if sys::end_with_parent().is_err() || sys::reader_has_gone(report.as_fd()) {
        sys::leave(1);
    }
    if File::from(go).read_exact(&mut [0]).is_err() {
        sys::leave(1);
    }
}

/// The init of namespaces.
pub(super) fn run(layout: &Layout, payload: &Payload, report: &Report) {
    if let Err(error) = sys::loopback_up() {
        return report.failed(Step::Loopback, &error);
    }
    if let Err((step, error)) = layout.make() {
        return report.failed(step, &error);
    }
    if let Err(error) = sys::set_host_name("holdpoint").and_then(|()| sys::be_opaque()) {
        return report.failed(Step::Namespaces, &error);
    }
    start(payload, report, || sys::signal(-1, libc::SIGKILL));
}

/// The same without namespaces: what the command leaves behind is found as this process's children.
pub(super) fn watch(payload: &Payload, report: &Report) {
    if let Err(error) = sys::adopt_orphans() {
        return report.failed(Step::Payload, &error);
    }
    start(payload, report, end_children);
}

/// The command's process, to which signals are passed on.
static PAYLOAD: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int) {
    let payload = PAYLOAD.load(Ordering::Relaxed);
    if payload > 0 {
        sys::signal(payload, signal);
    }
}

fn start(payload: &Payload, report: &Report, end_rest: impl Fn()) {
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1] {
        if let Err(error) = sys::on_signal(signal, &Answer::Handled(pass_on)) {
            return report.failed(Step::Payload, &error);
        }
    }
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        if let Err(error) = sys::on_signal(signal, &Answer::Ignored) {
            return report.failed(Step::Payload, &error);
        }
    }
    match sys::fork(0) {
        Ok(Side::Child) => {
            let (step, error) = payload.become_it();
            report.failed(step, &error);
            sys::leave(127)
        }
        Ok(Side::Parent(child)) => {
            PAYLOAD.store(child, Ordering::Relaxed);
            let status = reap(child);
            PAYLOAD.store(0, Ordering::Relaxed);
            // Everything it left is ended before its end is told: nothing of a command outlives it.
            loop {
                end_rest();
                if sys::wait_any().is_none() {
                    break;
                }
            }
            report.ended(status);
            sys::leave(0)
        }
        Err(error) => report.failed(Step::Payload, &error),
    }
}

/// Waits for the command, and buries what others leave meanwhile.
fn reap(payload: pid_t) -> c_int {
    loop {
        match sys::wait_any() {
            Some((child, status)) if child == payload => return status,
            Some(_) => {}
            // Nobody is left, and so neither is it.
            None => return libc::SIGKILL,
        }
    }
}

/// Ends the children of this process.
fn end_children() {
    let me = std::process::id();
    // Where the kernel does not list them, those that end by themselves are still waited for.
    let children = fs::read_to_string(format!("/proc/{me}/task/{me}/children"));
    for child in children.unwrap_or_default().split_whitespace() {
        if let Ok(child) = child.parse() {
            sys::signal(child, libc::SIGKILL);
        }
    }
}
