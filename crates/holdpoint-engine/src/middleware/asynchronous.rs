//! The same way for asynchronous agents, whatever their runtime.
//!
//! Judging and asking block, so they have a thread of their own; the tool's future is polled where
//! the caller polls. Whoever drops the future calls the call off: the question is withdrawn, the tool
//! does not run, and both are on record.

use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll, Waker};
use std::thread;

use holdpoint_core::ToolCall;
use serde_json::Value;

use super::cancel::Cancel;
use super::keeper::Gatekeeper;
use super::permission::Executed;
use super::toolbox::broken;
use crate::pipeline::ToolResult;

impl Gatekeeper {
    /// Judges a call, holds it if a person is to be asked, and polls what `tool` makes of it if it
    /// may run.
    pub async fn execute_async<T, F, E>(&self, call: &ToolCall, tool: T) -> Executed
    where
        T: FnOnce(ToolCall) -> F,
        F: Future<Output = Result<Value, E>>,
        E: Display,
    {
        self.execute_async_with(call, &Cancel::new(), tool).await
    }

    /// The same, for a call that may be called off without dropping the future. A tool that is
    /// running is dropped.
    pub async fn execute_async_with<T, F, E>(
        &self,
        call: &ToolCall,
        cancel: &Cancel,
        tool: T,
    ) -> Executed
    where
        T: FnOnce(ToolCall) -> F,
        F: Future<Output = Result<Value, E>>,
        E: Display,
    {
        let cancel = cancel.for_one_call();
        let withdrawing = WithdrawnWhenDropped(cancel.clone());
        let admitted = {
            let (keeper, call, cancel) = (self.clone(), call.clone(), cancel.clone());
            on_a_thread(move || keeper.admit(&call, &cancel)).await
        };
        let mut pass = match admitted {
            Some(Ok(pass)) => pass,
            Some(Err(refused)) => return *refused,
            None => {
                self.record_failure(call, BROKEN);
                return Executed::failed(call.clone(), BROKEN);
            }
        };
        pass.begin();
        let ending = ending_of(tool, pass.call().clone(), &cancel).await;
        drop(withdrawing);
        match on_a_thread(move || pass.end(ending)).await {
            Some(executed) => executed,
            None => Executed::failed(call.clone(), "what came of it could not be put on record"),
        }
    }
}

const BROKEN: &str = "the check broke down";

/// Polls a tool until it has ended, or nobody wants to know any more.
async fn ending_of<T, F, E>(tool: T, call: ToolCall, cancel: &Cancel) -> ToolResult
where
    T: FnOnce(ToolCall) -> F,
    F: Future<Output = Result<Value, E>>,
    E: Display,
{
    let started = catch_unwind(AssertUnwindSafe(|| Box::pin(tool(call))));
    let mut running = match started {
        Ok(running) => running,
        Err(panic) => return ToolResult::Failed(broken(&*panic)),
    };
    poll_fn(|context| {
        if cancel.is_cancelled_or_wakes(context.waker()) {
            return Poll::Ready(ToolResult::Cancelled);
        }
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(Ok(value))) => Poll::Ready(ToolResult::Returned(value)),
            Ok(Poll::Ready(Err(error))) => Poll::Ready(ToolResult::Failed(error.to_string())),
            Err(panic) => Poll::Ready(ToolResult::Failed(broken(&*panic))),
        }
    })
    .await
}

/// Calls a call off when nobody waits for it any more.
struct WithdrawnWhenDropped(Cancel);

impl Drop for WithdrawnWhenDropped {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What a thread gives in the end; nothing if it breaks down or cannot be started.
fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Later<T> {
    let slot = Arc::new(Mutex::new(Slot::Waiting(None)));
    let promise = Promise {
        slot: Arc::clone(&slot),
    };
    let started = thread::Builder::new()
        .name("holdpoint-gatekeeper".into())
        .spawn(move || promise.keep(work()));
    // A thread that is not started drops its promise.
    drop(started);
    Later { slot }
}

enum Slot<T> {
    Waiting(Option<Waker>),
    Done(T),
    Empty,
}

struct Promise<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> Promise<T> {
    fn keep(self, value: T) {
        self.settle(Slot::Done(value));
    }

    fn settle(&self, with: Slot<T>) {
        let waker = {
            let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *slot {
                Slot::Waiting(waker) => {
                    let waker = waker.take();
                    *slot = with;
                    waker
                }
                Slot::Done(_) | Slot::Empty => None,
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.settle(Slot::Empty);
    }
}

struct Later<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> Future for Later<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Empty) {
            Slot::Waiting(_) => {
                *slot = Slot::Waiting(Some(context.waker().clone()));
                Poll::Pending
            }
            Slot::Done(value) => Poll::Ready(Some(value)),
            Slot::Empty => Poll::Ready(None),
        }
    }
}

impl<T> Drop for Later<T> {
    fn drop(&mut self) {
        // What is given when nobody waits is dropped by whoever gives it.
        let abandoned = {
            let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *slot, Slot::Empty)
        };
        drop(abandoned);
    }
}
