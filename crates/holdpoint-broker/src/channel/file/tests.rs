use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::thread;
use std::time::Instant;

use holdpoint_sandbox::user;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::sample::{edited_request, request, waiting};
use super::*;
use crate::answer::{Answer, Scope};

/// A directory and somebody who watches it.
struct Approver {
    home: TempDir,
}

impl Approver {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn base(&self) -> PathBuf {
        self.home.path().join("approvals")
    }

    fn channel(&self) -> FileChannel {
        FileChannel::new(&self.base(), Some(0.0), "ann")
    }

    fn request_file(&self) -> PathBuf {
        self.base().join("requests/hq7f3a91.json")
    }

    fn response_file(&self) -> PathBuf {
        self.base().join("responses/hq7f3a91.json")
    }

    /// Asks, while somebody does `work` as soon as they see the request.
    fn ask(
        &self,
        request: &Request,
        work: impl FnOnce(Value) + Send,
    ) -> Result<SignedAnswer, ChannelError> {
        thread::scope(|scope| {
            scope.spawn(move || {
                let until = Instant::now() + Duration::from_secs(5);
                while Instant::now() < until {
                    if let Ok(bytes) = fs::read(self.request_file()) {
                        // It is there whole or not at all.
                        return work(serde_json::from_slice(&bytes).unwrap());
                    }
                    thread::sleep(Duration::from_millis(5));
                }
            });
            self.channel().ask(request, &waiting(3000))
        })
    }

    fn respond(&self, text: &str) {
        let draft = self.base().join("draft");
        write_private(&draft, text);
        fs::rename(draft, self.response_file()).unwrap();
    }

    fn is_clean(&self) -> bool {
        let empty = |name: &str| fs::read_dir(self.base().join(name)).unwrap().count() == 0;
        empty("requests") && empty("responses")
    }
}

fn write_private(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

const ALLOW: &str = r#"{"request_id":"hq7f3a91","decision":"allow"}"#;

// J-52
#[test]
fn a_response_file_answers_and_both_files_are_gone() {
    let approver = Approver::new();
    let said = approver.ask(&request(), |seen| {
        assert_eq!(seen["request_id"], "hq7f3a91");
        assert_eq!(seen["timestamp"], "2026-11-16T03:40:12.000000Z");
        assert_eq!(seen["tool_name"], "Bash");
        assert_eq!(seen["timeout_seconds"], 3);
        assert_eq!(mode(&approver.request_file()), 0o600);
        for directory in [
            approver.base(),
            approver.base().join("requests"),
            approver.base().join("responses"),
        ] {
            assert_eq!(mode(&directory), 0o700);
        }
        approver.respond(ALLOW);
    });
    let said = said.unwrap();
    assert_eq!(said.answer, Answer::Yes);
    let owner = if user::id() == 0 { "root" } else { "ann" };
    assert_eq!(said.approver, format!("file:{owner}"));
    assert_eq!(said.binding.as_deref(), Some("sha256:binding"));
    assert!(approver.is_clean());
}

// J-52
#[test]
fn half_a_response_is_waited_out() {
    let approver = Approver::new();
    let said = approver.ask(&request(), |_| {
        let (half, rest) = ALLOW.split_at(20);
        write_private(&approver.response_file(), half);
        thread::sleep(Duration::from_millis(200));
        let mut file = OpenOptions::new()
            .append(true)
            .open(approver.response_file())
            .unwrap();
        file.write_all(rest.as_bytes()).unwrap();
    });
    assert_eq!(said.unwrap().answer, Answer::Yes);
    assert!(approver.is_clean());
}

// J-51, J-52
#[test]
fn a_response_that_stays_half_or_pending_ends_in_a_timeout() {
    for text in [
        "",
        "{\"request_id\":",
        "[1]",
        r#"{"request_id":"hq7f3a91","decision":"pending"}"#,
    ] {
        let approver = Approver::new();
        approver.channel().inspect().unwrap();
        let asked = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                approver.respond(text);
            });
            approver.channel().ask(&request(), &waiting(400))
        });
        assert_eq!(asked, Err(ChannelError::Timeout), "{text}");
        assert!(approver.is_clean(), "{text}");
    }
}

#[test]
fn nobody_answers_and_the_request_is_gone() {
    let approver = Approver::new();
    assert_eq!(
        approver.channel().ask(&request(), &waiting(150)),
        Err(ChannelError::Timeout)
    );
    assert!(approver.is_clean());
    let gone = Waiting {
        limit: None,
        cancelled: &|| true,
    };
    assert_eq!(
        approver.channel().ask(&request(), &gone),
        Err(ChannelError::Cancelled)
    );
}

// J-50
#[test]
fn responses_to_something_else_or_too_late_do_not_count() {
    for (text, wanted) in [
        (
            r#"{"request_id":"someone-elses","decision":"allow"}"#,
            "not about this request",
        ),
        (r#"{"decision":"allow"}"#, "not about this request"),
        (r#"{"request_id":"hq7f3a91"}"#, "no `decision`"),
        (
            r#"{"request_id":"hq7f3a91","decision":"perhaps"}"#,
            "`perhaps` is unknown",
        ),
        (
            r#"{"request_id":"hq7f3a91","decision":"allow","expires_at":"2020-01-01T00:00:00Z"}"#,
            "has expired",
        ),
        (
            r#"{"request_id":"hq7f3a91","decision":"allow","binding":"sha256:other"}"#,
            "another version",
        ),
    ] {
        let approver = Approver::new();
        match approver.ask(&request(), |_| approver.respond(text)) {
            Err(ChannelError::Broken(reason)) => assert!(reason.contains(wanted), "{reason}"),
            other => panic!("{text}: {other:?}"),
        }
        assert!(approver.is_clean());
    }
}

#[test]
fn a_response_that_was_there_before_the_question_does_not_count() {
    let approver = Approver::new();
    approver.channel().inspect().unwrap();
    approver.respond(ALLOW);
    assert_eq!(
        approver.channel().ask(&request(), &waiting(200)),
        Err(ChannelError::Timeout)
    );
}

#[test]
fn responses_others_could_have_written_do_not_count() {
    let refused = |work: &(dyn Fn(&Approver) + Sync)| {
        let approver = Approver::new();
        let said = approver.ask(&request(), |_| work(&approver));
        // A directory is not deleted; whatever else lay there is.
        assert!(approver.response_file().is_dir() || approver.is_clean());
        match said {
            Err(ChannelError::Broken(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    let reason = refused(&|approver| {
        let elsewhere = approver.home.path().join("elsewhere");
        write_private(&elsewhere, ALLOW);
        symlink(elsewhere, approver.response_file()).unwrap();
    });
    assert!(reason.contains("symbolic link"), "{reason}");
    let reason = refused(&|approver| {
        let draft = approver.base().join("draft");
        write_private(&draft, ALLOW);
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o620)).unwrap();
        fs::rename(draft, approver.response_file()).unwrap();
    });
    assert!(reason.contains("written by others"), "{reason}");
    let reason = refused(&|approver| {
        fs::create_dir(approver.base().join("draft"))
            .and_then(|()| fs::rename(approver.base().join("draft"), approver.response_file()))
            .unwrap()
    });
    assert!(reason.contains("no ordinary file"), "{reason}");
    // Only root may give files away.
    if user::id() == 0 {
        let reason = refused(&|approver| {
            let draft = approver.base().join("draft");
            write_private(&draft, ALLOW);
            chown(&draft, Some(12_345), None).unwrap();
            fs::rename(draft, approver.response_file()).unwrap();
        });
        assert!(reason.contains("another user"), "{reason}");
    }
    let reason = refused(&|approver| approver.respond(&" ".repeat(70_000)));
    assert!(reason.contains("too long"), "{reason}");
}

#[test]
fn directories_others_could_write_in_are_refused() {
    let unusable = |approver: &Approver| match approver.channel().ask(&request(), &waiting(1000)) {
        Err(ChannelError::Unusable(reason)) => reason,
        other => panic!("{other:?}"),
    };
    for place in ["", "requests", "responses"] {
        let approver = Approver::new();
        let elsewhere = approver.home.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        if !place.is_empty() {
            private::directory(&approver.base()).unwrap();
        }
        let link = approver.base().join(place);
        let link = PathBuf::from(link.to_str().unwrap().trim_end_matches('/'));
        symlink(&elsewhere, &link).unwrap();
        let reason = unusable(&approver);
        assert!(reason.contains("symbolic link"), "{place}: {reason}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

        for bits in [0o720, 0o702, 0o777] {
            let approver = Approver::new();
            approver.channel().inspect().unwrap();
            let target = approver.base().join(place);
            fs::set_permissions(&target, fs::Permissions::from_mode(bits)).unwrap();
            let reason = unusable(&approver);
            assert!(reason.contains("written by others"), "{place}: {reason}");
        }
        if user::id() == 0 {
            let approver = Approver::new();
            approver.channel().inspect().unwrap();
            chown(approver.base().join(place), Some(12_345), None).unwrap();
            let reason = unusable(&approver);
            assert!(reason.contains("another user"), "{place}: {reason}");
        }
    }
    let approver = Approver::new();
    fs::write(approver.base(), "").unwrap();
    assert!(unusable(&approver).contains("no directory"));
}

#[test]
fn a_directory_that_is_swapped_while_somebody_waits_is_noticed() {
    let approver = Approver::new();
    let said = approver.ask(&request(), |_| {
        let elsewhere = approver.home.path().join("elsewhere");
        private::directory(&elsewhere).unwrap();
        write_private(&elsewhere.join("hq7f3a91.json"), ALLOW);
        let responses = approver.base().join("responses");
        fs::rename(&responses, approver.base().join("old")).unwrap();
        symlink(&elsewhere, &responses).unwrap();
    });
    assert!(matches!(said, Err(ChannelError::Unusable(_))), "{said:?}");
}

#[test]
fn an_id_that_is_no_name_of_a_file_is_refused() {
    let approver = Approver::new();
    for id in ["", "../escape", "a/b", ".", "a.b", &"x".repeat(200)] {
        let mut request = request();
        request.id = id.to_owned();
        let asked = approver.channel().ask(&request, &waiting(1000));
        assert!(matches!(asked, Err(ChannelError::Unusable(_))), "{id}");
    }
}

#[test]
fn no_secret_is_written_and_what_was_edited_is_said() {
    let approver = Approver::new();
    let said = approver.ask(&edited_request(), |seen| {
        assert_eq!(seen["was_edited"], true);
        assert_eq!(
            seen["original_arguments"],
            json!({"command": "git push --force origin main", "description": "Publish the fix",
                   "token": "[hidden]"})
        );
        assert_eq!(seen["arguments"]["command"], "git push origin main");
        assert!(!seen.to_string().contains("made-up-secret"));
        approver.respond(r#"{"request_id":"hq7f3a91","decision":"deny_session"}"#);
    });
    assert_eq!(
        said.unwrap().answer,
        Answer::Never {
            scope: Some(Scope::Prefix)
        }
    );
}

#[test]
fn what_came_of_an_answer_stands_in_the_next_question() {
    let approver = Approver::new();
    let mut channel = approver.channel();
    channel.told(&request(), "nothing was changed");
    let seen = thread::scope(|scope| {
        let seen = scope.spawn(|| {
            loop {
                if let Ok(bytes) = fs::read(approver.request_file()) {
                    return String::from_utf8(bytes).unwrap();
                }
            }
        });
        let _ = channel.ask(&request(), &waiting(500));
        seen.join().unwrap()
    });
    assert!(seen.contains(r#""notice":"nothing was changed""#), "{seen}");
}

#[test]
fn the_pace_has_bounds() {
    let pace = |pace| FileChannel::new(Path::new("/x"), pace, "ann").pace;
    assert_eq!(pace(None), Duration::from_millis(500));
    assert_eq!(pace(Some(0.0)), Duration::from_millis(50));
    assert_eq!(pace(Some(-1.0)), Duration::from_millis(50));
    assert_eq!(pace(Some(f64::NAN)), Duration::from_millis(500));
    assert_eq!(pace(Some(1e9)), Duration::from_secs(60));
}
