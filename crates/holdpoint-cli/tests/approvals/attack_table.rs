//! The table of attacks in `docs/approvals.md`, held against the tests: the same rows with the same words of closed and open, and for
//! each row in which something is closed the tests that try it.

use std::fs;
use std::path::Path;

/// How a row begins, what it says of `none`, `terminal` and `key`, and what tries it.
const ROWS: &[(&str, &str, &[&str])] = &[
    (
        "a renamed, detached copy",
        "OCC",
        &[
            "a_renamed_detached_copy_with_a_clean_environment_releases_nothing",
            "whoever_cannot_sign_releases_nothing",
        ],
    ),
    (
        "a `conftest.py` that forks twice",
        "OCC",
        &["a_conftest_that_forks_twice_releases_nothing"],
    ),
    (
        "the same copy: `open --print`",
        "OCC",
        &[
            "a_renamed_detached_copy_with_a_clean_environment_releases_nothing",
            "a_session_on_the_page_without_a_passkey_releases_nothing",
        ],
    ),
    (
        "the same copy: `permissions allow`",
        "OCC",
        &["a_renamed_detached_copy_with_a_clean_environment_releases_nothing"],
    ),
    (
        "the same copy: `approve --edit`",
        "OCC",
        &[
            "a_renamed_detached_copy_with_a_clean_environment_releases_nothing",
            "what_was_signed_before_an_edit_is_not_counted_again",
        ],
    ),
    (
        "a copy in a terminal of its own",
        "OOC",
        &["whoever_cannot_sign_releases_nothing"],
    ),
    (
        "the daemon's secret, spoken to",
        "OOC",
        &["whoever_cannot_sign_releases_nothing"],
    ),
    (
        "the same, saying it is `watch`",
        "OOC",
        &["whoever_cannot_sign_releases_nothing"],
    ),
    (
        "a library loaded into the program",
        "OCC",
        &[
            "a_library_loaded_into_the_program_releases_nothing",
            "whoever_cannot_sign_releases_nothing",
        ],
    ),
    (
        "another policy named to `approve`",
        "OOC",
        &["whoever_cannot_sign_releases_nothing"],
    ),
    (
        "a login it counts for itself",
        "OOC",
        &["whoever_cannot_sign_releases_nothing"],
    ),
    (
        "a session on the page",
        "OOC",
        &["a_session_on_the_page_without_a_passkey_releases_nothing"],
    ),
    (
        "a browser it drives",
        "OOC",
        &["a_session_on_the_page_without_a_passkey_releases_nothing"],
    ),
    (
        "the page's passkey asked by another port",
        "––C",
        &[
            "a_session_on_the_page_without_a_passkey_releases_nothing",
            "what_a_browser_says_is_held_against_what_is_pinned",
        ],
    ),
    (
        "playing the daemon to the hook",
        "OOC",
        &["whoever_plays_the_daemon_to_the_hook_releases_nothing"],
    ),
    (
        "the same with a forged signature",
        "OOC",
        &["whoever_plays_the_daemon_to_the_hook_releases_nothing"],
    ),
    (
        "the same with a signature that was used",
        "––C",
        &["whoever_plays_the_daemon_to_the_hook_releases_nothing"],
    ),
    (
        "the same with a signature for a release that was taken back",
        "––C",
        &[
            "what_was_signed_for_a_release_that_was_taken_back_is_used_up",
            "what_was_signed_before_an_edit_is_not_counted_again",
        ],
    ),
    (
        "a signature for another card",
        "––C",
        &[
            "whoever_cannot_sign_releases_nothing",
            "a_statement_is_about_one_thing_and_one_time",
            "a_statement_has_one_spelling",
        ],
    ),
    (
        "a signature for something else",
        "––C",
        &[
            "whoever_cannot_sign_releases_nothing",
            "what_a_device_of_ssh_says_is_held_against_what_is_wanted",
            "a_key_in_a_file_is_no_key",
        ],
    ),
    (
        "keys of its own in every file",
        "––C",
        &[
            "pinned_keys_are_roots_word_and_the_account_cannot_ask_for_less",
            "approve_has_ssh_sign_and_pin_is_for_root",
        ],
    ),
    (
        "a policy of the account that asks for `none`",
        "OOC",
        &["pinned_keys_are_roots_word_and_the_account_cannot_ask_for_less"],
    ),
    (
        "a refusal, comment, edit or rule in somebody's name",
        "CCC",
        &["nobody_answers_in_a_name_that_was_not_verified"],
    ),
    (
        "one person with two keys",
        "––C",
        &["two_people_must_sign_where_two_are_wanted"],
    ),
    (
        "a rule for later calls left with an answer",
        "OOC",
        &["approve_has_ssh_sign_and_pin_is_for_root"],
    ),
    (
        "the agent's own dialog or the console",
        "OOC",
        &["a_channel_that_cannot_prove_anything_asks_nobody"],
    ),
    (
        "reading or attaching to the daemon's memory",
        "CCC",
        &["nobody_looks_into_the_daemon"],
    ),
    ("rules of the session or of the user's policy", "OOO", &[]),
    ("replacing the program, or the hook", "OOO", &[]),
    (
        "showing a person at `approve` or `watch` another card",
        "OOC",
        &["approve_has_no_other_card_signed_than_it_prints"],
    ),
    ("the same on the page, or by a terminal", "OOO", &[]),
];

/// Where the tests stand.
const SOURCES: [&str; 2] = [
    include_str!("proofs.rs"),
    include_str!("../../../holdpoint-proof/tests/proofs.rs"),
];

#[test]
fn the_table_of_attacks_says_what_the_tests_show() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/approvals.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("| By a program of the account").unwrap();
    let rows: Vec<&str> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with("| "))
        .collect();
    assert_eq!(
        rows.len(),
        ROWS.len(),
        "rows of docs/approvals.md and of ROWS"
    );
    for (row, (begins, cells, tests)) in rows.iter().zip(ROWS) {
        let said = row.trim_matches(['|', ' ']);
        assert!(said.starts_with(begins), "`{begins}` is not `{said}`");
        let mut columns: Vec<&str> = said.rsplitn(4, " | ").collect();
        columns.reverse();
        let words: String = columns[1..]
            .iter()
            .map(|cell| cell.trim().chars().next().unwrap())
            .collect();
        assert_eq!(words, *cells, "{begins}");
        assert_eq!(tests.is_empty(), !cells.contains('C'), "{begins}");
        for test in *tests {
            let stands = format!("#[test]\nfn {test}() {{");
            let found = SOURCES.iter().any(|source| source.contains(&stands));
            assert!(found, "{begins}: no test is called `{test}`");
        }
    }
}
