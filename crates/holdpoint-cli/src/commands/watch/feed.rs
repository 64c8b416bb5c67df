//! The daemon, from two threads: one follows what it says, one asks it what a key wants. The screen
//! never waits for either.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use holdpoint_broker::wire::{self, Places, Reply, Wanted, WireError};
use holdpoint_broker::{Request, StopScope};
use holdpoint_engine::Locations;
use holdpoint_proof::Signed;

use super::state::{Came, EXTENSION, Errand, Given, HISTORY_PAGE, News, Preview, one_line};
use crate::commands::approvals::words_of;
use crate::commands::stop::press;

/// The most news that may wait to be shown: some screens of it. While an editor is open more stays with the daemon, which
/// then tells everything anew.
const MAX_NEWS_WAITING: usize = 256;

/// How long it is until a daemon that is not there is looked for again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(4);

/// The daemon as the screen sees it.
pub(super) struct Feed {
    pub(super) news: Receiver<News>,
    errands: Sender<Errand>,
    stop: Arc<AtomicBool>,
}

impl Feed {
    pub(super) fn start(places: &Places) -> Self {
        let (tell, news) = sync_channel(MAX_NEWS_WAITING);
        let (errands, wanted) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        {
            let (places, tell, stop) = (places.clone(), tell.clone(), Arc::clone(&stop));
            thread::spawn(move || follow(&places, &tell, &stop));
        }
        let places = places.clone();
        thread::spawn(move || run_errands(&places, &wanted, &tell));
        Self {
            news,
            errands,
            stop,
        }
    }

    pub(super) fn ask(&self, errand: Errand) {
        // It is heard for as long as this lives.
        let _ = self.errands.send(errand);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn follow(places: &Places, tell: &SyncSender<News>, stop: &AtomicBool) {
    let mut pause = FIRST_PAUSE;
    loop {
        let followed = wire::follow(places, |reply| {
            let news = match reply {
                Some(Reply::Requests { requests }) => Some(News::Waiting(requests)),
                Some(Reply::Change { request, .. }) => Some(News::Changed(request)),
                Some(
                    Reply::Waiting { .. }
                    | Reply::Resolved { .. }
                    | Reply::Unreleased
                    | Reply::Answered { .. }
                    | Reply::Opinion { .. }
                    | Reply::Statement { .. }
                    | Reply::Code { .. }
                    | Reply::Error { .. },
                )
                | Some(Reply::Along { .. })
                | None => None,
            };
            if news.is_some() {
                pause = FIRST_PAUSE;
            }
            news.is_none_or(|news| tell.send(news).is_ok()) && !stop.load(Ordering::Relaxed)
        });
        let Err(trouble) = followed else { return };
        if tell.send(News::Lost(trouble.to_string())).is_err() || stop.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

fn run_errands(places: &Places, wanted: &Receiver<Errand>, tell: &SyncSender<News>) {
    for errand in wanted {
        let news = match errand {
            Errand::Answer(answers) => {
                let came = answers.into_iter().map(|given| answer(places, given, None));
                News::Answered(came.collect())
            }
            Errand::Signed(given, signed) => {
                News::Answered(vec![answer(places, *given, Some(*signed))])
            }
            Errand::Extend(id) => {
                let wants = Wanted::Extend {
                    id: id.clone(),
                    seconds: EXTENSION,
                };
                News::Answered(vec![came(id, wire::ask(places, wants))])
            }
            Errand::TakeBack(id) => {
                let wants = Wanted::TakeBack { id: id.clone() };
                News::Answered(vec![came(id, wire::ask(places, wants))])
            }
            Errand::Preview(given) => {
                let wants = Wanted::Along {
                    id: given.target.id.clone(),
                    answer: given.answer.clone(),
                };
                match wire::ask(places, wants) {
                    Ok(Reply::Along { released, kept }) => {
                        let lines = |requests: Vec<Request>| {
                            requests.iter().map(one_line).collect::<Vec<String>>()
                        };
                        let preview = Preview {
                            released: lines(released),
                            kept: lines(kept),
                        };
                        News::Preview(given, preview)
                    }
                    Ok(_) => News::Failed("the daemon answers another question".into()),
                    Err(trouble) => News::Failed(trouble.to_string()),
                }
            }
            Errand::Stop(session) => {
                let scope = StopScope::Session(session);
                match press(&Locations::of_this_machine(), &scope, None) {
                    Ok(_) => News::Stopped(format!(
                        "stopped {}: `{}` lets it go on",
                        scope.words(),
                        scope.resume()
                    )),
                    Err(error) => News::Failed(format!("{error:#}")),
                }
            }
            Errand::History(before) => {
                let wants = Wanted::History {
                    limit: HISTORY_PAGE,
                    before,
                    text: None,
                    approver: None,
                    session: None,
                };
                match wire::ask(places, wants) {
                    Ok(Reply::Requests { requests }) => News::History(before, requests),
                    Ok(_) => News::Failed("the daemon answers another question".into()),
                    Err(trouble) => News::Failed(trouble.to_string()),
                }
            }
        };
        if tell.send(news).is_err() {
            return;
        }
    }
}

fn answer(places: &Places, given: Given, signed: Option<Signed>) -> Came {
    let id = given.target.id;
    let wants = Wanted::Answer {
        id: id.clone(),
        answer: given.answer,
        binding: Some(given.target.binding),
        phrase: given.phrase,
        signed,
        watching: true,
    };
    came(id, wire::ask(places, wants))
}

fn came(id: String, reply: Result<Reply, WireError>) -> Came {
    match reply {
        Ok(Reply::Answered {
            outcome,
            message,
            request,
        }) => Came {
            words: words_of(&outcome, message.as_deref(), request.as_deref()),
            had_effect: outcome != "no_effect",
            id,
            request,
        },
        Ok(_) => without_effect(id, "the daemon answers another question".into()),
        Err(trouble) => without_effect(id, trouble.to_string()),
    }
}

fn without_effect(id: String, words: String) -> Came {
    Came {
        id,
        words,
        had_effect: false,
        request: None,
    }
}
