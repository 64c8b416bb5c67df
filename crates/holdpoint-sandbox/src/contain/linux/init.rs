//! The first process inside: it lays out the files, starts the command, reaps what that leaves and says how it ended.
//!
//! The command is not this process itself: the first process of a pid namespace is spared the signals it does not
//! handle, and a command that ignores Ctrl-C is no use.

use std::ffi::CStr;
use std::io::{self, PipeReader, Read};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_int, pid_t};

use super::gateway;
use super::inside;
use super::layout::{self, Layout};
use super::payload::Payload;
use super::report::Report;
use super::start::Inner;
use super::sys::{self, Answer};
use super::used_up::UsedUp;
use crate::contain::Step;
use crate::network::{HOST_NAME, HostRule};

/// Before anything else: ends with the supervisor, and waits for its word that the users are known, if it has one to say.
pub(super) fn begin(go: Option<&PipeReader>, report: &Report) {
    // First, or a supervisor that is killed right now leaves a sandbox alive.
    if sys::end_with_parent(libc::SIGKILL).is_err() || sys::reader_has_gone(report.as_fd()) {
        sys::leave(1);
    }
    let told = go.map(|mut go| go.read_exact(&mut [0]));
    if told.is_some_and(|told| told.is_err()) {
        sys::leave(1);
    }
}

/// The init of namespaces.
pub(super) fn run(
    layout: &Layout,
    payload: &mut Payload,
    hosts: Option<&[HostRule]>,
    inner: &Inner,
) {
    let report = &inner.report;
    let gateway = match reach(hosts, inner) {
        Ok(gateway) => gateway,
        Err(error) => return report.failed(Step::Loopback, &error),
    };
    if let Err((step, error)) = layout.make(gateway) {
        return report.failed(step, &error);
    }
    let proxy = gateway.filter(|_| hosts.is_some_and(|hosts| !hosts.is_empty()));
    let variables = proxy.map(gateway::variables).transpose();
    if let Err(error) = variables.map(|more| payload.add_variables(more.unwrap_or_default())) {
        return report.failed(Step::Payload, &error);
    }
    if let Err(error) = sys::set_host_name(HOST_NAME).and_then(|()| sys::be_opaque()) {
        return report.failed(Step::Namespaces, &error);
    }
    start(payload, inner, &layout::TEMPORARY, end_others);
}

/// The same where another program has made the namespaces and laid out the files.
pub(super) fn run_prepared(payload: &Payload, inner: &Inner) {
    REPORT.store(inner.report.as_fd().as_raw_fd(), Ordering::Relaxed);
    let ready = sys::on_signal(libc::SIGIO, &Answer::Handled(end_if_alone))
        .and_then(|()| sys::signal_when_reader_goes(inner.report.as_fd()))
        .and_then(|()| sys::be_opaque())
        .and_then(|()| sys::pass(inner.channel.as_fd(), &[inside::STANDS], &[]));
    // Who went before it was to be told of.
    end_if_alone(0);
    match ready {
        Ok(()) => start(payload, inner, &layout::TEMPORARY, end_others),
        Err(error) => inner.report.failed(Step::Payload, &error),
    }
}

/// Where this process's end is told, for the handler of a signal.
static REPORT: AtomicI32 = AtomicI32::new(-1);

/// Ends this process, and with it all of its namespace, if the supervisor has gone.
extern "C" fn end_if_alone(_signal: c_int) {
    if sys::nobody_reads(REPORT.load(Ordering::Relaxed)) {
        sys::leave(1);
    }
}

/// Ends every other process of this namespace.
fn end_others() {
    sys::signal(-1, libc::SIGKILL);
}

/// Makes the network ready. Where listed hosts are reached.
fn reach(hosts: Option<&[HostRule]>, inner: &Inner) -> io::Result<Option<Ipv4Addr>> {
    if !inner.joined {
        sys::loopback_up()?;
    }
    match hosts.filter(|_| inner.gateway.is_none()) {
        Some(hosts) => gateway::open(hosts, inner.channel.as_fd()).map(Some),
        None => Ok(inner.gateway),
    }
}

/// The same without namespaces: what the command leaves behind is found as this process's children.
pub(super) fn watch(payload: &Payload, inner: &Inner) {
    // Nobody ends what it leaves when this process ends, so it is told to end, and ends the rest first.
    let prepared = sys::on_signal(END_ALL, &Answer::Handled(end_payload))
        .and_then(|()| sys::adopt_orphans())
        .and_then(|()| sys::end_with_parent(END_ALL));
    if let Err(error) = prepared {
        return inner.report.failed(Step::Payload, &error);
    }
    if sys::reader_has_gone(inner.report.as_fd()) {
        sys::leave(1);
    }
    start(payload, inner, &[], end_children);
}

/// The command's process, to which signals are passed on.
static PAYLOAD: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int) {
    let payload = PAYLOAD.load(Ordering::Relaxed);
    if payload > 0 {
        sys::signal(payload, signal);
    }
}

/// The signal by which the first process of a sandbox without namespaces is told to end all of it.
pub(super) const END_ALL: c_int = libc::SIGUSR2;

extern "C" fn end_payload(_signal: c_int) {
    let payload = PAYLOAD.load(Ordering::Relaxed);
    if payload > 0 {
        sys::signal(payload, libc::SIGKILL);
    } else {
        // It has not begun, or has ended and is being cleared away.
        sys::leave(1);
    }
}

fn start(payload: &Payload, inner: &Inner, temporary: &[&CStr], end_rest: impl Fn()) {
    let report = &inner.report;
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
    let started = sys::start_in_this_memory(&PAYLOAD, || {
        let (step, error) = payload.become_it(inner.channel.as_fd());
        report.failed(step, &error);
        127
    });
    match started {
        Ok(child) => {
            let mut used_up = UsedUp::default();
            let status = reap(child, &mut used_up);
            PAYLOAD.store(0, Ordering::Relaxed);
            used_up.look_at(temporary, payload.limits());
            if sys::has_children() {
                used_up.try_processes(payload.limits());
            }
            // Everything it left is ended before its end is told: nothing of a command outlives it. Most leave nothing.
            while sys::has_children() {
                end_rest();
                if sys::wait_any().is_none() {
                    break;
                }
            }
            report.ended(status, used_up);
            sys::leave(0)
        }
        Err(error) => report.failed(Step::Payload, &error),
    }
}

/// Waits for the command, and buries what others leave meanwhile.
fn reap(payload: pid_t, used_up: &mut UsedUp) -> c_int {
    // Nobody is left, and so neither is it.
    while let Some((child, status)) = sys::wait_any() {
        used_up.note_end(status);
        if child == payload {
            return status;
        }
    }
    libc::SIGKILL
}

/// Ends the children of this process. Those that are not listed and end by themselves are still waited for.
fn end_children() {
    for child in sys::children() {
        sys::signal(child, libc::SIGKILL);
    }
}
