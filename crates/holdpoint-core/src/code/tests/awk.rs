//! Awk.

use super::{check, check_harmless};
use crate::code::Language::Awk;

#[test]
fn programs_and_files_stand_in_places_of_their_own() {
    check(
        Awk,
        &[
            ("BEGIN { system(\"rm -rf /\") }", "shell rm -rf /"),
            ("{ system(\"rm \" $1) }", "shell rm …"),
            ("{ system($0) }", "shell ?"),
            ("{ print > \"out\" }", "write out"),
            ("{ print $1 >> \"out\" }", "append out"),
            ("{ print $1, $2 > $3 }", "write ?"),
            ("{ print > \"d/\" $1 \".txt\" }", "write d/…"),
            ("{ printf \"%s\", $1 | \"sh\" }", "shell sh"),
            (
                "{ print | \"sort -u\"; close(\"sort -u\") }",
                "shell sort -u",
            ),
            ("BEGIN { \"date\" | getline d; print d }", "shell date"),
            (
                "BEGIN { while ((\"ls\" | getline f) > 0) print f }",
                "shell ls",
            ),
            ("BEGIN { cmd = \"id\"; cmd | getline x }", "shell id"),
            ("BEGIN { cmd = \"id\"; cmd = $1; system(cmd) }", "shell ?"),
            (
                "BEGIN { while ((getline l < \"f\") > 0) print l }",
                "read f",
            ),
            (
                "{ print |& \"/inet/tcp/0/a.b/80\" }",
                "connect /inet/tcp/0/a.b/80",
            ),
            ("{ @f(1) }", "!DynamicName"),
            ("@load \"filefuncs\"; BEGIN {}", "!Native"),
            ("{ print > \"a", "write a; !Unreadable"),
        ],
    );
}

#[test]
fn ordinary_programs_give_nothing() {
    check_harmless(
        Awk,
        &[
            "{print $1}",
            "NR==1{print $2; exit}",
            "{ if ($3 > 5) print $0 }",
            "$1 > 5 { print $1 }",
            "BEGIN{FS=\":\"} {print $1 \" \" $2}",
            "{ s += $1 } END { print s / NR }",
            "/system/ { print }",
            "/a|b/ { n++ } END { print n }",
            "{ gsub(/\\//, \"-\"); print }",
            "{ print \"system(rm)\" }",
            "{ a[$1]++ } END { for (k in a) print k, a[k] }",
            "{ print \"x\" > \"/dev/stderr\" }",
            "!seen[$0]++",
            "{ x = ($1 > $2) ? \"a\" : \"b\"; print x }",
            "# system(\"x\")\n{ print }",
            "function f(a, b) { return a + b }\n{ print f($1, $2) }",
            "$1 ~ /x/ || $2 == \"y\" { print NR \": \" $0 }",
            "{ printf \"%-10s %d\\n\", $1, $2 }",
            "{ print length($0), substr($0, 1, 3), tolower($1) }",
            "{ while (getline > 0) n++ }",
        ],
    );
}
