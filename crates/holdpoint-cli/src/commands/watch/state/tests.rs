use holdpoint_broker::{Answer, Request, Scope, UnixMillis};
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::super::sample::{NOW, edit, push, review, settled};
use super::undo::QUIET;
use super::*;

/// Long enough after everything to have seen it.
const LATER: UnixMillis = UnixMillis(NOW.0 + 10_000);

fn state(requests: &[Request]) -> State {
    let mut state = State::new();
    state.heard(News::Waiting(requests.to_vec()), NOW);
    state
}

/// Presses a key as somebody does who answers: it stands alone, and what it leads to is waited for.
fn press(state: &mut State, code: KeyCode) -> Step {
    let now = after(state, 2 * QUIET);
    match state.press(&KeyEvent::from(code), now) {
        Step::Nothing => state.due(UnixMillis(now.0 + QUIET)),
        step @ (Step::Ask(_) | Step::Edit(_) | Step::Quit) => step,
    }
}

/// So long after the last key, or after everything was there.
fn after(state: &State, quiet: u64) -> UnixMillis {
    UnixMillis(state.typed.map_or(LATER.0, |at| at.0 + quiet))
}

/// Types as people do, a key each so many milliseconds.
fn type_fast(state: &mut State, text: &str, every: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    for c in text.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            c => KeyCode::Char(c),
        };
        let now = after(state, every);
        steps.push(state.due(now));
        steps.push(state.press(&KeyEvent::from(code), now));
    }
    steps.push(state.due(after(state, 10 * QUIET)));
    steps
}

fn letter(state: &mut State, letter: char) -> Step {
    press(state, KeyCode::Char(letter))
}

/// Releases a call of high risk: asked for, and said once more.
fn release(state: &mut State) -> Given {
    assert_eq!(letter(state, 'y'), Step::Nothing);
    only(letter(state, 'y'))
}

fn types(state: &mut State, text: &str) {
    for c in text.chars() {
        assert_eq!(letter(state, c), Step::Nothing);
    }
}

fn current(state: &State) -> &str {
    state.current().map_or("", |(_, request)| &request.id)
}

fn given(step: Step) -> Vec<Given> {
    let Step::Ask(Errand::Answer(given)) = step else {
        panic!("{step:?}");
    };
    given
}

fn only(step: Step) -> Given {
    match given(step).as_slice() {
        [one] => one.clone(),
        several => panic!("{several:?}"),
    }
}

fn told(state: &State) -> &str {
    state.told().map_or("", |(_, text)| text)
}

#[test]
fn what_expires_first_stands_first_and_the_cursor_stays_on_its_call() {
    let mut for_ever = push();
    for_ever.id = "forever0".into();
    for_ever.expires = None;
    let mut state = state(&[for_ever, edit(), push()]);
    let ids =
        |state: &State| -> Vec<String> { state.rows().iter().map(|one| one.id.clone()).collect() };
    assert_eq!(ids(&state), ["hq7f3a91", "e4dm2k8z", "forever0"]);
    letter(&mut state, 'j');
    assert_eq!(current(&state), "e4dm2k8z");
    // A call that is more urgent comes in above; the one that is looked at stays.
    state.heard(News::Changed(Box::new(review())), NOW);
    assert_eq!(ids(&state)[0], "rv5t9c2x");
    assert_eq!(current(&state), "e4dm2k8z");
    for (key, id) in [
        ('k', "hq7f3a91"),
        ('k', "rv5t9c2x"),
        ('k', "rv5t9c2x"),
        ('G', "forever0"),
        ('j', "forever0"),
    ] {
        letter(&mut state, key);
        assert_eq!(current(&state), id);
    }
}

#[test]
fn an_answer_names_what_was_shown() {
    let mut state = state(&[push()]);
    let yes = release(&mut state);
    assert_eq!(
        (yes.target.id.as_str(), yes.target.binding.as_str()),
        ("hq7f3a91", "sha256:push")
    );
    assert_eq!((yes.answer, yes.phrase), (Answer::Yes, None));
    assert_eq!(only(letter(&mut state, 'n')).answer, Answer::No);
}

#[test]
fn what_came_under_the_cursor_by_itself_is_not_answered_at_once() {
    let mut state = state(&[push(), edit()]);
    assert_eq!(current(&state), "hq7f3a91");
    state.heard(News::Changed(Box::new(settled(&push(), "released"))), LATER);
    assert_eq!(current(&state), "e4dm2k8z");
    let soon = UnixMillis(LATER.0 + MIN_TIME_SHOWN - 1);
    let step = state.press(&KeyEvent::from(KeyCode::Char('y')), soon);
    assert_eq!(step, Step::Nothing);
    assert!(
        told(&state).contains("look at it first"),
        "{}",
        told(&state)
    );
    assert_eq!(only(letter(&mut state, 'y')).target.id, "e4dm2k8z");

    // The same call with other arguments is another one.
    let mut changed = edit();
    (changed.version, changed.binding) = (2, "sha256:other".into());
    let now = after(&state, 2 * QUIET);
    state.heard(News::Changed(Box::new(changed)), now);
    assert_eq!(
        state.press(&KeyEvent::from(KeyCode::Char('n')), now),
        Step::Nothing
    );
    assert_eq!(state.due(UnixMillis(now.0 + QUIET)), Step::Nothing);
    // Whoever moves there has seen it.
    letter(&mut state, 'j');
    assert_eq!(only(letter(&mut state, 'n')).target.binding, "sha256:other");
}

#[test]
fn an_older_version_does_not_come_back() {
    let mut newer = push();
    (newer.version, newer.binding) = (3, "sha256:newer".into());
    let mut state = state(&[newer]);
    state.heard(News::Changed(Box::new(push())), NOW);
    assert_eq!(release(&mut state).target.binding, "sha256:newer");
}

#[test]
fn a_review_is_released_by_its_phrase_alone() {
    let mut state = state(&[review()]);
    assert_eq!(letter(&mut state, 'y'), Step::Nothing);
    types(&mut state, "release");
    assert_eq!(press(&mut state, KeyCode::Enter), Step::Nothing);
    assert!(told(&state).contains("this is not `release git`"));
    types(&mut state, " git");
    let yes = only(press(&mut state, KeyCode::Enter));
    assert_eq!(yes.phrase.as_deref(), Some("release git"));
    // A refusal needs none.
    assert_eq!(only(letter(&mut state, 'n')).answer, Answer::No);
}

#[test]
fn a_comment_is_typed_and_an_empty_one_is_none() {
    let mut state = state(&[push()]);
    letter(&mut state, 'c');
    assert_eq!(press(&mut state, KeyCode::Enter), Step::Nothing);
    assert!(told(&state).contains("empty"));
    types(&mut state, "no, quit");
    let no = only(press(&mut state, KeyCode::Enter));
    assert_eq!(
        no.answer,
        Answer::Comment {
            comment: "no, quit".into()
        }
    );
    letter(&mut state, 'c');
    types(&mut state, "never mind");
    assert_eq!(press(&mut state, KeyCode::Esc), Step::Nothing);
    assert_eq!(state.popup(), None);
}

#[test]
fn a_rule_is_shown_before_it_is_stored_the_narrowest_first() {
    let mut state = state(&[push()]);
    let Step::Ask(Errand::Preview(asked)) = letter(&mut state, 'a') else {
        panic!("what else it would release is not asked");
    };
    let Some(Popup::Rules {
        offers, chosen: 0, ..
    }) = state.popup()
    else {
        panic!("{:?}", state.popup());
    };
    assert_eq!(offers[0].scope, Scope::Exact);
    assert_eq!(press(&mut state, KeyCode::Enter), Step::Nothing);
    assert!(told(&state).contains("y releases it"), "{}", told(&state));
    let along = Preview {
        released: vec!["x".into()],
        kept: Vec::new(),
    };
    state.heard(News::Preview(asked.clone(), along.clone()), NOW);
    let preview = |state: &State| match state.popup() {
        Some(Popup::Rules { preview, .. }) => preview.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(preview(&state), Some(along.clone()));
    // Another rule releases others, and what was said of the first says nothing of it.
    assert!(matches!(
        letter(&mut state, 'j'),
        Step::Ask(Errand::Preview(_))
    ));
    assert_eq!(preview(&state), None);
    state.heard(News::Preview(asked, along), NOW);
    assert_eq!(preview(&state), None);
    letter(&mut state, 'k');
    let always = only(letter(&mut state, 'y')).answer;
    assert_eq!(
        always,
        Answer::Always {
            scope: Some(Scope::Exact)
        }
    );
    letter(&mut state, 'N');
    letter(&mut state, 'j');
    letter(&mut state, 'j');
    let never = only(press(&mut state, KeyCode::Enter)).answer;
    assert_eq!(
        never,
        Answer::Never {
            scope: Some(Scope::Prefix)
        }
    );

    let mut state = self::state(&[edit()]);
    letter(&mut state, 'a');
    assert_eq!(state.popup(), None);
    assert!(told(&state).contains("no rule is offered"));
}

#[test]
fn suspending_is_confirmed_and_not_always_possible() {
    let mut state = state(&[push()]);
    for (key, answer) in [('A', Answer::All), ('t', Answer::Turn), ('i', Answer::Idle)] {
        assert!(matches!(
            letter(&mut state, key),
            Step::Ask(Errand::Preview(_))
        ));
        assert_eq!(letter(&mut state, 'n'), Step::Nothing, "it was not meant");
        letter(&mut state, key);
        assert_eq!(
            press(&mut state, KeyCode::Enter),
            Step::Nothing,
            "nothing said"
        );
        assert_eq!(only(letter(&mut state, 'y')).answer, answer);
    }
    let mut state = self::state(&[edit()]);
    for key in ['A', 't', 'i'] {
        letter(&mut state, key);
        assert_eq!(state.popup(), None);
        assert!(told(&state).contains("cannot be suspended"));
    }
}

#[test]
fn a_selection_is_answered_together_but_for_what_wants_a_phrase() {
    let mut state = state(&[push(), edit(), review()]);
    letter(&mut state, 'X');
    assert_eq!(letter(&mut state, 'y'), Step::Nothing);
    let Some(Popup::Confirm { note, lines, .. }) = state.popup() else {
        panic!("{:?}", state.popup());
    };
    assert!(note.contains("rv5t9c2x"), "{note}");
    assert_eq!(lines.len(), 2);
    let ids: Vec<String> = given(letter(&mut state, 'y'))
        .into_iter()
        .map(|one| one.target.id)
        .collect();
    assert_eq!(ids, ["hq7f3a91", "e4dm2k8z"]);
    // What was left out is still selected, and alone.
    let no = only(letter(&mut state, 'n'));
    assert_eq!(no.target.id, "rv5t9c2x");

    letter(&mut state, 'X');
    assert_eq!(given(letter(&mut state, 'n')).len(), 3);
}

#[test]
fn what_changes_or_goes_is_selected_and_asked_about_no_longer() {
    let mut state = state(&[push(), edit()]);
    letter(&mut state, 'X');
    let mut changed = push();
    (changed.version, changed.binding) = (2, "sha256:other".into());
    state.heard(News::Changed(Box::new(changed)), NOW);
    assert_eq!(only(letter(&mut state, 'n')).target.id, "e4dm2k8z");

    letter(&mut state, 'g');
    letter(&mut state, 'a');
    assert!(state.popup().is_some());
    state.heard(News::Changed(Box::new(settled(&push(), "expired"))), LATER);
    assert_eq!(state.popup(), None);
    assert!(told(&state).contains("meanwhile"));
}

#[test]
fn a_filter_hides_calls_and_what_is_hidden_is_not_answered() {
    let mut state = state(&[push(), edit()]);
    letter(&mut state, 'X');
    letter(&mut state, '/');
    types(&mut state, "PRICE.rs");
    press(&mut state, KeyCode::Enter);
    assert_eq!(state.rows().len(), 1);
    assert_eq!(only(letter(&mut state, 'n')).target.id, "e4dm2k8z");
    press(&mut state, KeyCode::Esc);
    assert_eq!(state.rows().len(), 2);
    assert_eq!(only(letter(&mut state, 'n')).target.id, current(&state));
}

#[test]
fn pasted_text_is_never_a_key() {
    let mut state = state(&[push()]);
    state.paste("y\ny");
    assert_eq!(state.popup(), None);
    letter(&mut state, 'c');
    state.paste("two\nlines\n");
    let comment = only(press(&mut state, KeyCode::Enter)).answer;
    assert_eq!(
        comment,
        Answer::Comment {
            comment: "two lines".into()
        }
    );
}

#[test]
fn without_the_daemon_nothing_is_answered_and_nothing_forgotten() {
    let mut state = state(&[push()]);
    state.heard(News::Lost("it does not run".into()), NOW);
    assert_eq!(current(&state), "hq7f3a91");
    assert_eq!(letter(&mut state, 'y'), Step::Nothing);
    assert!(told(&state).contains("it does not run"));
    state.heard(News::Waiting(Vec::new()), NOW);
    assert_eq!(*state.link(), Link::Up);
    assert_eq!(letter(&mut state, 'y'), Step::Nothing);
    assert!(told(&state).contains("nothing is listed"));
}

#[test]
fn an_answer_without_effect_is_told() {
    let came = |id: &str, had_effect| Came {
        id: id.into(),
        words: "no effect: it is released by bob already".into(),
        had_effect,
        request: None,
    };
    let mut state = state(&[push()]);
    state.heard(News::Answered(vec![came("hq7f3a91", false)]), NOW);
    let expected = "hq7f3a91  no effect: it is released by bob already";
    assert_eq!(state.told(), Some((Tone::Bad, expected)));
    state.heard(News::Answered(vec![came("a", true), came("b", false)]), NOW);
    let (tone, text) = state.told().unwrap();
    assert_eq!(tone, Tone::Bad);
    assert!(
        text.starts_with("1 answered, 1 without effect: b"),
        "{text}"
    );
}

#[test]
fn history_is_fetched_further_back_as_far_as_there_is_any() {
    let mut state = state(&[push()]);
    assert_eq!(
        press(&mut state, KeyCode::Tab),
        Step::Ask(Errand::History(None))
    );
    let page: Vec<Request> = (0..HISTORY_PAGE)
        .map(|number| {
            let mut one = settled(&push(), "released");
            one.id = format!("{number:08}");
            one
        })
        .collect();
    let oldest = page[0].settled.as_ref().map(|settled| settled.at);
    state.heard(News::History(None, page), NOW);
    assert_eq!(letter(&mut state, 'y'), Step::Nothing);
    assert!(told(&state).contains("answered before"));
    letter(&mut state, 'G');
    assert_eq!(letter(&mut state, 'j'), Step::Ask(Errand::History(oldest)));
    state.heard(News::History(oldest, Vec::new()), NOW);
    assert_eq!(letter(&mut state, 'j'), Step::Nothing, "there is no more");
    assert_eq!(press(&mut state, KeyCode::Tab), Step::Nothing);
    assert_eq!(release(&mut state).target.id, "hq7f3a91");
}

#[test]
fn the_way_out_is_always_open() {
    let mut state = state(&[push()]);
    assert_eq!(letter(&mut state, 'q'), Step::Quit);
    let interrupt = KeyEvent::new(
        KeyCode::Char('c'),
        ratatui::crossterm::event::KeyModifiers::CONTROL,
    );
    assert_eq!(state.press(&interrupt, LATER), Step::Quit);
    // In a line, `q` is a letter and Ctrl-C drops the line.
    letter(&mut state, 'c');
    types(&mut state, "q");
    assert_eq!(state.press(&interrupt, LATER), Step::Nothing);
    assert_eq!(state.popup(), None);
    letter(&mut state, 'a');
    assert_eq!(state.press(&interrupt, LATER), Step::Quit);
}

#[test]
fn editing_and_more_time_are_about_the_call_under_the_cursor() {
    let mut state = state(&[push()]);
    assert_eq!(letter(&mut state, 'e'), Step::Edit(Box::new(push())));
    assert_eq!(
        letter(&mut state, '+'),
        Step::Ask(Errand::Extend("hq7f3a91".into()))
    );
    press(&mut state, KeyCode::Enter);
    assert!(state.is_full());
    state.heard(News::Waiting(vec![edit()]), NOW);
    assert!(!state.is_full(), "what was looked at in full is gone");
}

#[test]
fn what_is_typed_answers_nothing() {
    let mut low = push();
    low.decision.risk = holdpoint_core::Risk::Low;
    for text in [
        "why not\n",
        "yes but look first\n",
        "no, never mind\n",
        "any way\n",
        "A\ny\n",
        "ayy\n",
        "t\nyyyy",
        "i y\n",
        "Xy\ny\n",
        "yy",
        "nn",
    ] {
        for requests in [vec![push(), edit()], vec![low.clone(), edit()]] {
            for every in [90, 200, 400, 900] {
                let mut state = state(&requests);
                let answered = type_fast(&mut state, text, every)
                    .into_iter()
                    .any(|step| matches!(step, Step::Ask(Errand::Answer(_))));
                assert!(!answered, "{text:?} every {every} ms");
            }
        }
    }
}

#[test]
fn an_answer_can_be_taken_back_for_a_moment() {
    let mut low = push();
    low.decision.risk = holdpoint_core::Risk::Low;
    for code in [KeyCode::Esc, KeyCode::Char('u'), KeyCode::Char('h')] {
        let mut state = state(std::slice::from_ref(&low));
        let key = |code| KeyEvent::from(code);
        assert_eq!(state.press(&key(KeyCode::Char('y')), LATER), Step::Nothing);
        assert!(told(&state).contains("Esc takes it back"));
        let soon = UnixMillis(LATER.0 + QUIET - 1);
        assert_eq!(state.due(soon), Step::Nothing);
        assert_eq!(state.press(&key(code), soon), Step::Nothing);
        assert!(told(&state).contains("nothing was answered"));
        assert_eq!(state.due(UnixMillis(LATER.0 + 10 * QUIET)), Step::Nothing);
    }
    // Moving is no typing, and the answer names its call.
    let mut state = state(&[low.clone(), edit()]);
    assert_eq!(
        state.press(&KeyEvent::from(KeyCode::Char('y')), LATER),
        Step::Nothing
    );
    state.press(&KeyEvent::from(KeyCode::Down), LATER);
    let step = state.due(UnixMillis(LATER.0 + QUIET));
    assert_eq!(only(step).target.id, "hq7f3a91");
    // A call that changes in this moment is not answered as it was.
    let mut state = self::state(std::slice::from_ref(&low));
    state.press(&KeyEvent::from(KeyCode::Char('y')), LATER);
    let mut changed = low;
    (changed.version, changed.binding) = (2, "sha256:other".into());
    state.heard(News::Changed(Box::new(changed)), LATER);
    assert_eq!(state.due(UnixMillis(LATER.0 + QUIET)), Step::Nothing);
    assert!(told(&state).contains("meanwhile"));
}

#[test]
fn the_last_release_is_taken_back_where_nobody_has_used_it() {
    let mut state = state(&[push()]);
    assert_eq!(letter(&mut state, 'u'), Step::Nothing);
    assert!(told(&state).contains("released nothing"));
    let came = Came {
        id: "hq7f3a91".into(),
        words: "released".into(),
        had_effect: true,
        request: Some(Box::new(settled(&push(), "released"))),
    };
    state.heard(News::Answered(vec![came]), NOW);
    assert_eq!(
        letter(&mut state, 'u'),
        Step::Ask(Errand::TakeBack("hq7f3a91".into()))
    );
}
