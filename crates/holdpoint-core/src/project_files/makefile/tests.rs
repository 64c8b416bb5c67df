//! What make would run, compared with fixtures that GNU make 4.3 was asked about.

use proptest::prelude::*;

use super::*;

fn texts(recipe: &Recipe) -> Vec<&str> {
    recipe.lines.iter().map(|line| line.text.as_str()).collect()
}

fn run(text: &str, goals: &[&str]) -> Recipe {
    recipe(text, goals, &[])
}

/// One call of make in a fixture and what it runs.
#[derive(Default)]
struct Case {
    words: Vec<String>,
    recipes: Vec<String>,
    commands: Vec<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("#>") {
            let words = words.split_ascii_whitespace().map(str::to_owned).collect();
            cases.push(Case {
                words,
                ..Case::default()
            });
        } else if let Some(case) = cases.last_mut() {
            if let Some(line) = line.strip_prefix("#= ") {
                case.recipes.push(line.to_owned());
            } else if let Some(line) = line.strip_prefix("#! ") {
                case.commands.push(line.to_owned());
            } else if let Some(line) = line.strip_prefix("#+ ") {
                let last = case.recipes.last_mut().unwrap();
                last.push('\n');
                last.push_str(line);
            }
        }
    }
    cases
}

#[test]
fn fixtures_run_what_make_runs() {
    for text in [
        include_str!("fixtures/everyday.mk"),
        include_str!("fixtures/values.mk"),
    ] {
        for case in cases(text) {
            let overrides: Vec<(&str, &str)> = case
                .words
                .iter()
                .filter_map(|word| word.split_once('='))
                .collect();
            let goals: Vec<&str> = case
                .words
                .iter()
                .map(String::as_str)
                .filter(|word| !word.contains('='))
                .collect();
            let found = recipe(text, &goals, &overrides);
            let (made, read): (Vec<_>, Vec<_>) =
                found.lines.iter().partition(|line| line.target.is_some());
            let made: Vec<&str> = made.iter().map(|line| line.text.as_str()).collect();
            let read: Vec<&str> = read.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(made, case.recipes, "{:?}", case.words);
            assert_eq!(read, case.commands, "{:?}", case.words);
        }
    }
}

#[test]
fn a_command_runs_wherever_make_expands_it() {
    for text in [
        "X := $(shell evil)\nall: ; ls",
        "X != evil\nall: ; ls",
        "$(shell evil)\nall: ; ls",
        "$(info $(shell evil))\nall: ; ls",
        "ifeq ($(shell evil),x)\nendif\nall: ; ls",
        "all: $(shell evil)\n\tls",
        "include $(shell evil)\nall: ; ls",
        "export X = $(shell evil)\nall: ; ls",
        "X := ${shell evil}\nall: ; ls",
        "X := $(if $(Y),$(shell evil))\nall: ; ls",
        "Y = $(shell evil)\nX := $(Y)\nall: ; ls",
        "f = $(shell $(1))\nX := $(call f,evil)\nall: ; ls",
        "all: X := $(shell evil)\nall: ; ls",
        "X := $(foreach a,b,$(shell evil))\nall: ; ls",
        "all: | $(shell evil | x)\n\tls",
    ] {
        let found = run(text, &[]);
        assert!(
            texts(&found).iter().any(|line| line.starts_with("evil")),
            "{text}: {found:?}"
        );
    }
    let unused = run("X = $(shell evil)\nall: ; ls", &[]);
    assert_eq!(texts(&unused), ["ls"]);
    let used = run("X = $(shell evil)\nall: ; ls $(X)", &[]);
    assert_eq!(texts(&used), ["evil", "ls ${MAKE_SHELL}"]);
}

#[test]
fn what_is_not_known_is_left_to_the_shell_reader() {
    let found = run("all: ; $(CMD) $(filter x,y) \"$(HOME)\"", &[]);
    assert_eq!(texts(&found), ["${CMD} ${MAKE_UNKNOWN} \"${HOME}\""]);
    assert!(found.lines.iter().all(|line| line.unknown));
    assert!(!run("all: ; ls", &[]).lines.iter().any(|line| line.unknown));
}

#[test]
fn every_branch_of_a_condition_is_taken() {
    let text = "ifdef CI\nC = rm -rf x\nelse\nC = ls\nendif\nall:\n\t$(C)\nifdef Y\n\techo y\nelse\n\techo n\nendif\n";
    assert_eq!(
        texts(&run(text, &[])),
        ["rm -rf x", "ls", "echo y", "echo n"]
    );
    let text = "ifdef CI\nC = ls\nendif\nall: ; $(C)";
    assert_eq!(texts(&run(text, &[])), ["ls", "${C}"]);
}

#[test]
fn what_make_is_told_beats_what_the_file_says() {
    let text = "C = ls\nall: ; $(C)";
    assert_eq!(
        texts(&recipe(text, &[], &[("C", "rm -rf /")])),
        ["rm -rf /"]
    );
    assert_eq!(
        texts(&recipe(text, &[], &[("C", "$(shell evil)")])),
        ["evil", "${MAKE_SHELL}"]
    );
}

#[test]
fn the_shell_and_included_files_are_reported() {
    let found = run(
        "SHELL := /usr/bin/python3\ninclude a.mk b.mk\n-include c.mk\nall: ; print(1)",
        &[],
    );
    assert_eq!(found.shell_override.as_deref(), Some("/usr/bin/python3"));
    assert_eq!(found.includes, ["a.mk", "b.mk", "c.mk"]);
    assert_eq!(run("all: ; ls", &[]).shell_override, None);
    let flags = run("SHELL = bash\n.SHELLFLAGS = -c evil\nall: ; ls", &[]);
    assert_eq!(flags.shell_override.as_deref(), Some("-c evil"));
}

#[test]
fn one_shell_gets_the_whole_recipe() {
    let text = ".ONESHELL:\nall:\n\t@cd x\n\tls\n";
    assert_eq!(texts(&run(text, &[])), ["cd x\nls"]);
}

#[test]
fn the_makefile_itself_is_brought_up_to_date() {
    let text = "all: ; ls\nMakefile: configure\n\t./evil\n";
    assert_eq!(texts(&run(text, &[])), ["./evil", "ls"]);
}

#[test]
fn what_no_rule_makes_is_unknown() {
    assert!(run("all: ; ls", &["other"]).unknown);
    assert!(!run("all: src/a.c\n\tls", &[]).unknown);
    assert!(run("$(eval all: ; ls)", &["all"]).unknown);
    assert_eq!(texts(&run("%: ; echo $@", &["other"])), ["echo other"]);
    assert_eq!(
        texts(&run(".DEFAULT: ; echo $@", &["other"])),
        ["echo other"]
    );
    assert_eq!(
        texts(&run(".c.o: ; cc $< -o $@", &["a.o"])),
        ["cc a.c -o a.o"]
    );
    assert_eq!(
        texts(&run("a b: %: %.x\n\techo $* $<", &["b"])),
        ["echo b b.x"]
    );
}

#[test]
fn loops_end() {
    assert_eq!(texts(&run("a: b\n\tls\nb: a\n\tpwd", &[])), ["pwd", "ls"]);
    assert!(
        run("X = $(X) $(X)\nall: ; $(X)", &[])
            .lines
            .iter()
            .any(|line| line.unknown)
    );
    let chain: String = (0..100)
        .map(|n| format!("t{n}: t{}\n\techo {n}\n", n + 1))
        .collect();
    assert!(run(&chain, &["t0"]).unknown);
    let wide: String = format!(
        "all: {}\n%: ; echo $@\n",
        (0..500).map(|n| format!("t{n} ")).collect::<String>()
    );
    let found = run(&wide, &["all"]);
    assert!(found.unknown && found.lines.len() <= MAX_TARGETS);
}

#[test]
fn a_file_longer_than_the_limit_is_unknown() {
    let text = format!("all: ; ls\n{}", "# x\n".repeat(MAX_FILE / 4));
    assert!(run(&text, &[]).unknown);
}

const PIECES: &[&str] = &[
    "all",
    ":",
    "::",
    " ",
    "\n",
    "\n\t",
    "$(",
    "${",
    ")",
    "}",
    "shell ",
    "call ",
    "foreach ",
    ",",
    "X",
    "=",
    ":=",
    "+=",
    "!=",
    "?=",
    "define X",
    "\nendef\n",
    "ifeq (",
    "\nendif\n",
    "else",
    "include ",
    "%",
    "%.o",
    "$@",
    "$<",
    "$$",
    "$",
    "\\\n",
    "#",
    ";",
    "|",
    "@",
    "-",
    "eval ",
    "é",
    "SHELL",
    ".ONESHELL:",
    "export ",
    "override ",
    ".RECIPEPREFIX = >\n",
];

proptest! {
    #[test]
    fn any_text_is_read(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        goal in prop::sample::select(&["all", "X", "%", "", "a.o"][..]),
    ) {
        let text: String = pieces.concat();
        for goals in [&[][..], &[goal]] {
            let found = recipe(&text, goals, &[("X", "$(X)y")]);
            prop_assert!(found.lines.len() <= MAX_LINES);
        }
    }

    #[test]
    fn a_plain_line_comes_out_as_it_is(line in "[a-z][a-z0-9 ./'\";|&<>=-]{0,40}") {
        let found = run(&format!("all:\n\t{line}\n"), &[]);
        prop_assert_eq!(texts(&found), [line.as_str()]);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
fn a_long_file_of_any_shape_is_read_in_time() {
    let shapes = [
        "a: b\n\tls\n",
        "$(X)",
        "$(",
        "X += $(X)\n",
        "a ",
        "$(shell x)",
        "define X\n",
        "ifeq (",
        "all: a\n",
        "a%: b%\n",
        "$(call X,",
        "X := $(X)$(X)x\n",
        "\\\n",
        "all: X += y\n",
        "$(foreach a,b c d,",
    ];
    for shape in shapes {
        let text = format!(
            "X = x y z\nall: ; $(X)\n{}",
            shape.repeat(MAX_FILE / shape.len())
        );
        let start = std::time::Instant::now();
        let found = recipe(&text, &["all"], &[]);
        assert!(
            start.elapsed().as_secs() < 20,
            "{shape:?} took {:?}",
            start.elapsed()
        );
        assert!(found.lines.len() <= MAX_LINES);
    }
}
