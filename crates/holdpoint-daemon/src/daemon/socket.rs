//! The daemon's Unix socket: callers that hold a call, and the programs of the person at this
//! machine.

use std::sync::Arc;
use std::time::Duration;

use holdpoint_broker::answer::{Evidence, Route, SignedAnswer};
use holdpoint_broker::host::Problem;
use holdpoint_broker::request::{CallContext, Request};
use holdpoint_broker::resolution::Resolution;
use holdpoint_broker::time::UnixMillis;
use holdpoint_broker::wire::{MAX_LINE, Reply, ServerAnswer, Wanted, Wish, opinion_nonce, proof};
use holdpoint_proof::Statement;
use serde::Serialize;
use subtle::ConstantTimeEq;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, broadcast, oneshot};
use tokio::task::spawn_blocking;

use super::peer;
use crate::broker::{Answered, Broker, ChangeKind, Held, HistoryQuery, Outcome, Somebody};

/// The most connections at once: as many callers as may wait, and some people. Further ones wait.
const MAX_CONNECTIONS: usize = 6000;

/// How long a caller that went away without a word has to come back. One that lost its connection tries every half second, and
/// one that broke down is started again by its agent within a few; a person is shown a call nobody waits for no longer than this.
const TO_COME_BACK: Duration = Duration::from_secs(5);

/// What the socket needs to answer.
pub(super) struct SocketState {
    pub(super) broker: Broker,
    pub(super) secret: String,
    /// The person at this machine.
    pub(super) owner: String,
    /// The number of their account: nobody else is listened to.
    pub(super) account: u32,
    /// Who asked this person to stand in for them.
    pub(super) stands_for: Box<StandsFor>,
    /// A code to sign in with on the page, and its address.
    pub(super) code: Box<MakesCode>,
    /// Whether the policy wants whoever answers by a command to sit at a terminal.
    pub(super) wants_terminal: Box<WantsTerminal>,
    /// What the user's model server makes of a text.
    pub(super) opinion: Box<HasOpinion>,
    /// How many may be asked for an opinion at once: a model server on somebody's machine answers few.
    pub(super) opinions: Semaphore,
}

/// Whether somebody must sit at a terminal.
pub(super) type WantsTerminal = dyn Fn() -> bool + Send + Sync;

/// What the user's model server makes of a text.
pub(super) type HasOpinion = dyn Fn(&str) -> ServerAnswer + Send + Sync;

/// More than this many at once have no opinion.
pub(super) const MAX_OPINIONS: usize = 4;

/// Who asked somebody to stand in for them.
pub(super) type StandsFor = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// Makes a code for somebody to sign in with, and says where.
pub(super) type MakesCode = dyn Fn(&str) -> Result<(String, String), Problem> + Send + Sync;

/// Answers whoever connects, for as long as the daemon runs.
pub(super) async fn serve(listener: UnixListener, state: Arc<SocketState>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    // A connection that breaks is the other side's business: it asks again.
                    let _ = answer(stream, &state).await;
                    drop(permit);
                });
            }
            // No more descriptors, most likely: others will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn answer(stream: UnixStream, state: &Arc<SocketState>) -> std::io::Result<()> {
    let peer = stream.peer_cred()?;
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    if peer.uid() != state.account {
        return say(&mut write, &refusal("this is the daemon of another user")).await;
    }
    let wish = match heard(&mut read).await? {
        Some(Ok(wish)) => wish,
        Some(Err(problem)) => return say(&mut write, &refusal(&problem)).await,
        None => return Ok(()),
    };
    match wish {
        Wish::Hold {
            asked,
            nonce,
            before,
        } => hold(read, write, state, *asked, nonce, before).await,
        Wish::Opinion { text, nonce } => {
            let answer = match state.opinions.try_acquire() {
                Ok(_room) => {
                    let asked = Arc::clone(state);
                    spawn_blocking(move || (asked.opinion)(&text)).await
                }
                Err(_) => Ok(ServerAnswer::nobodys("the model server has enough to do")),
            };
            let answer = answer.unwrap_or_else(|_| ServerAnswer::nobodys("asking broke down"));
            let reply = proved_as(state, &opinion_nonce(&nonce), &answer, |told, proof| {
                Reply::Opinion { told, proof }
            });
            say(&mut write, &reply).await
        }
        Wish::Offer { asked, refused } => {
            let broker = state.broker.clone();
            let reply = blocking(move || {
                let (id, expires) = broker.offer(&asked, &refused, UnixMillis::now())?;
                Ok(Reply::Waiting { id, expires })
            });
            say(&mut write, &reply.await).await
        }
        Wish::Claim { asked, nonce } => {
            let owned = Arc::clone(state);
            let reply = blocking(move || {
                let told = owned.broker.claim(&asked, &nonce, UnixMillis::now())?;
                Ok(told.map_or(Reply::Unreleased, |told| proved(&owned, &nonce, &told)))
            });
            say(&mut write, &reply.await).await
        }
        Wish::Withdraw | Wish::Leave => {
            say(&mut write, &refusal("nothing is held on this connection")).await
        }
        Wish::Person { secret, wants } => {
            if !bool::from(secret.as_bytes().ct_eq(state.secret.as_bytes())) {
                return say(&mut write, &refusal("the daemon's secret is another")).await;
            }
            let process = peer.pid().and_then(|pid| u32::try_from(pid).ok());
            if let Some(text) = not_a_person(process) {
                return say(&mut write, &refusal(&text)).await;
            }
            if matches!(wants, Wanted::Follow) {
                return follow(read, write, state).await;
            }
            let state = Arc::clone(state);
            let terminal = process.and_then(peer::terminal_of);
            let reply = blocking(move || person(&state, wants, terminal)).await;
            say(&mut write, &reply).await
        }
    }
}

/// Why a process is not taken for a person's program.
fn not_a_person(process: Option<u32>) -> Option<String> {
    let Some(process) = process.filter(|process| peer::can_be_seen(*process)) else {
        return Some("the program that asks cannot be looked at: only a person answers".into());
    };
    peer::agent_above(process)
        .map(|sign| format!("an agent's call may not do this ({sign}): only a person answers"))
}

async fn hold(
    mut read: BufReader<OwnedReadHalf>,
    mut write: OwnedWriteHalf,
    state: &Arc<SocketState>,
    asked: CallContext,
    nonce: String,
    before: Option<String>,
) -> std::io::Result<()> {
    let broker = state.broker.clone();
    let caller = nonce.clone();
    let held =
        spawn_blocking(move || broker.hold(&asked, &caller, before.as_deref(), UnixMillis::now()))
            .await;
    let (id, mut answer) = match held {
        Ok(Ok(Held::Resolved(told))) => {
            return say(&mut write, &proved(state, &nonce, &told)).await;
        }
        Ok(Ok(Held::Waiting {
            id,
            expires,
            answer,
        })) => {
            let waiting = Reply::Waiting {
                id: id.clone(),
                expires,
            };
            if say(&mut write, &waiting).await.is_err() {
                drop(answer);
                abandon(state, id, nonce).await;
                return Ok(());
            }
            (id, answer)
        }
        Ok(Err(problem)) => return say(&mut write, &refusal(&problem.0)).await,
        Err(_) => return say(&mut write, &refusal("the daemon failed to judge the call")).await,
    };
    let wish = tokio::select! {
        told = &mut answer => return tell(&mut write, state, &nonce, told).await,
        wish = heard(&mut read) => wish,
    };
    match wish {
        Ok(Some(Ok(Wish::Withdraw))) => {}
        // It finds its request again.
        Ok(Some(Ok(Wish::Leave))) => return Ok(()),
        // One that says anything else is no caller of ours, and is waited for no longer, either.
        Ok(Some(_) | None) | Err(_) => {
            // From here on nobody waits: an answer is kept for the identical call.
            drop(answer);
            abandon(state, id, nonce).await;
            return Ok(());
        }
    }
    let (broker, caller) = (state.broker.clone(), nonce.clone());
    let withdrawn = spawn_blocking(move || broker.withdraw(&id, &caller, UnixMillis::now())).await;
    match withdrawn {
        Ok(Ok(Some(told))) => say(&mut write, &proved(state, &nonce, &told)).await,
        // Somebody was faster: their answer is what came of it.
        Ok(Ok(None)) => tell(&mut write, state, &nonce, answer.await).await,
        Ok(Err(problem)) => say(&mut write, &refusal(&problem.0)).await,
        Err(_) => {
            say(
                &mut write,
                &refusal("the daemon failed to withdraw the call"),
            )
            .await
        }
    }
}

/// Withdraws the request of a caller that went away without a word, unless it, or the identical call of another one, comes back
/// for it.
async fn abandon(state: &Arc<SocketState>, id: String, nonce: String) {
    tokio::time::sleep(TO_COME_BACK).await;
    let broker = state.broker.clone();
    // What could not be recorded still waits, until a person or its deadline closes it.
    let _ = spawn_blocking(move || broker.abandon(&id, &nonce, UnixMillis::now())).await;
}

/// Tells a caller how its call ended.
async fn tell(
    write: &mut OwnedWriteHalf,
    state: &SocketState,
    nonce: &str,
    told: Result<Resolution, oneshot::error::RecvError>,
) -> std::io::Result<()> {
    match told {
        Ok(told) => say(write, &proved(state, nonce, &told)).await,
        // Another connection of the same caller waits now, or the daemon ends.
        Err(_) => Ok(()),
    }
}

fn person(state: &SocketState, wants: Wanted, terminal: Option<String>) -> Result<Reply, Problem> {
    let broker = &state.broker;
    let requests = |requests: Vec<Request>| Reply::Requests {
        requests: requests.iter().map(Request::listed).collect(),
    };
    Ok(match wants {
        Wanted::Pending | Wanted::Follow => requests(broker.pending()?),
        Wanted::Find { id } => Reply::Requests {
            requests: broker
                .find(&id)?
                .iter()
                .map(Request::without_arguments)
                .collect(),
        },
        Wanted::History {
            limit,
            before,
            text,
            approver,
            session,
        } => requests(broker.history(&HistoryQuery {
            before,
            limit,
            text,
            approver,
            session,
            outcome: None,
            rule: None,
        })?),
        Wanted::Answer {
            id,
            answer,
            binding,
            phrase,
            signed,
            watching,
        } => {
            // Who signs is who says yes; whether they did is looked at with everything else. Nothing else is signed, so nobody's
            // name is taken from what would not be verified.
            let signer = signed
                .as_ref()
                .filter(|_| answer.releases())
                .and_then(|signed| {
                    Statement::read(&signed.statement).map(|statement| statement.approver)
                });
            let said = SignedAnswer {
                answer,
                approver: signer.unwrap_or_else(|| state.owner.clone()),
                on_behalf_of: (state.stands_for)(&state.owner),
                binding,
                phrase,
                evidence: Evidence {
                    route: match watching {
                        true => Route::Watch,
                        false => Route::Terminal,
                    },
                    device: terminal,
                    signed,
                },
            };
            answered(broker.answer(&id, &said, UnixMillis::now())?)
        }
        Wanted::Extend { id, seconds } => {
            let person = Somebody {
                name: &state.owner,
                on_behalf_of: &(state.stands_for)(&state.owner),
            };
            let evidence = Evidence {
                device: terminal,
                ..Evidence::by(Route::Terminal)
            };
            answered(broker.extend(&id, seconds, &person, &evidence, UnixMillis::now())?)
        }
        Wanted::Statement { id, approver } => Reply::Statement {
            statement: broker.statement(&id, &approver, UnixMillis::now())?,
        },
        Wanted::Along { id, answer } => {
            let along = broker.along(&id, &answer)?;
            let listed = |requests: &[Request]| requests.iter().map(Request::listed).collect();
            Reply::Along {
                released: listed(&along.released),
                kept: listed(&along.kept),
            }
        }
        Wanted::TakeBack { id } => {
            let person = Somebody {
                name: &state.owner,
                on_behalf_of: &(state.stands_for)(&state.owner),
            };
            let evidence = Evidence {
                device: terminal,
                ..Evidence::by(Route::Watch)
            };
            answered(broker.take_back(&id, &person, &evidence, UnixMillis::now())?)
        }
        Wanted::Code => {
            // Whoever is signed in answers on the page.
            if terminal.is_none() && (state.wants_terminal)() {
                return Err(Problem(peer::NO_TERMINAL.into()));
            }
            let (code, address) = (state.code)(&state.owner)?;
            Reply::Code { code, address }
        }
    })
}

fn answered(answered: Answered) -> Reply {
    let (outcome, message) = match answered.outcome {
        Outcome::Settled => ("settled", None),
        Outcome::Counted => ("counted", None),
        Outcome::Again => ("again", None),
        Outcome::NoEffect(reason) => ("no_effect", Some(reason)),
    };
    Reply::Answered {
        outcome: outcome.to_owned(),
        message,
        request: answered
            .request
            .map(|request| Box::new(request.without_arguments())),
    }
}

/// Says what waits, then every change.
async fn follow(
    mut read: BufReader<OwnedReadHalf>,
    mut write: OwnedWriteHalf,
    state: &Arc<SocketState>,
) -> std::io::Result<()> {
    loop {
        // Subscribed before it is looked what waits, so that nothing falls between.
        let mut changes = state.broker.events();
        let snapshot = {
            let state = Arc::clone(state);
            blocking(move || person(&state, Wanted::Pending, None)).await
        };
        say(&mut write, &snapshot).await?;
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                _ = heard(&mut read) => return Ok(()),
            };
            match change {
                Ok(change) => {
                    let kind = match change.kind {
                        ChangeKind::Opened => "opened",
                        ChangeKind::Changed => "changed",
                        ChangeKind::Settled => "settled",
                    };
                    let change = Reply::Change {
                        kind: kind.to_owned(),
                        request: Box::new(change.request.listed()),
                    };
                    say(&mut write, &change).await?;
                }
                // Too slow: what waits is told anew.
                Err(broadcast::error::RecvError::Lagged(_)) => break,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }
}

async fn blocking(work: impl FnOnce() -> Result<Reply, Problem> + Send + 'static) -> Reply {
    match spawn_blocking(work).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(problem)) => refusal(&problem.0),
        Err(_) => refusal("the daemon failed"),
    }
}

fn proved(state: &SocketState, nonce: &str, told: &Resolution) -> Reply {
    proved_as(state, nonce, told, |told, proof| Reply::Resolved {
        told,
        proof,
    })
}

fn proved_as(
    state: &SocketState,
    nonce: &str,
    told: &impl Serialize,
    reply: fn(String, String) -> Reply,
) -> Reply {
    let proved = serde_json::to_string(told).ok().and_then(|told| {
        let proof = proof(&state.secret, nonce, &told)?;
        Some(reply(told, proof))
    });
    proved.unwrap_or_else(|| refusal("the answer cannot be written, or not be proved"))
}

fn refusal(error: &str) -> Reply {
    Reply::Error {
        error: error.to_owned(),
    }
}

async fn say(write: &mut OwnedWriteHalf, reply: &Reply) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(reply)?;
    text.push(b'\n');
    write.write_all(&text).await
}

/// The next wish; none at the end.
async fn heard(
    read: &mut BufReader<OwnedReadHalf>,
) -> std::io::Result<Option<Result<Wish, String>>> {
    let mut line = Vec::new();
    let length = read.take(MAX_LINE).read_until(b'\n', &mut line).await?;
    if length == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line).map_err(|error| {
        format!("this is no wish the daemon knows ({error})")
    })))
}
