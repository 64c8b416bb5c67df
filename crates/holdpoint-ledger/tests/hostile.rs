//! Whatever bytes stand in the files of a ledger: verifying, reading and appending end in a result
//! or an error.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

mod support;

use std::fs;

use holdpoint_ledger::{Durability, Reader, Verify};
use proptest::prelude::*;
use support::{named, scratch, small};

/// Text that comes close to a ledger.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed = [
        "\n",
        "{\"v\":1,\"seq\":0,\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\
         \"time\":\"2026-11-16T03:40:12.000000Z\",\"kind\":\"decision\"}\n",
        "{\"v\":1,\"seq\":18446744073709551615,\"prev\":\"\",\"time\":\"x\",\"kind\":\"repair\",\"detail\":{\"what\":\"lost\"}}\n",
        "{\"v\":1,\"seq\":18446744073709551615,\"time\":\"9999-12-31T23:59:59Z\",\"kind\":\"checkpoint\",\
         \"detail\":{\"note\":\"a\\n5\\n\\n\",\"key\":\"a+b+c\",\"tree\":[]}}\n",
        "{\"seq\":18446744073709551614,\"kind\":\"checkpoint\",\"time\":\"\",\"detail\":{\"note\":\"\",\"key\":\"\",\"tree\":[\"00\"]}}\n",
        "S 1 00000001 00000000000000000000 18446744073709551615 18446744073709551615 18446744073709551615 0 ",
        "holdpoint-ledger-00000000+00000000+AQ==\n",
        "\u{2014} a b\n\n",
        "[[[[[[[[",
    ];
    prop_oneof![
        prop::sample::select(fixed.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_end_in_a_result_or_an_error(
        files in prop::collection::vec(
            (
                prop::sample::select(vec![
                    "00000001.jsonl", "00000002.jsonl", "4294967295.jsonl", "lock", "key", "key.pub",
                    "000000000000.checkpoint", "18446744073709551615.checkpoint", "reserve",
                ]),
                content(),
            ),
            0..6,
        ),
        after in any::<bool>(),
    ) {
        let home = scratch();
        let ledger = small(home.path(), 500);
        if after {
            ledger.append(&named("a", 300), Durability::Written).unwrap();
        }
        for (name, bytes) in &files {
            fs::write(home.path().join(name), bytes).unwrap();
        }
        let _ = Verify::default().run(home.path(), &mut |_, _| {});
        let mut reader = Reader::new(home.path());
        while let Ok(Some(line)) = reader.next() {
            let _ = line.record();
        }
        let _ = ledger.append(&named("b", 300), Durability::Written);
        let _ = ledger.append_refusal(&named("c", 300));
        let _ = ledger.checkpoint();
        let _ = ledger.repair();
        let _ = Verify::default().run(home.path(), &mut |_, _| {});
    }
}

#[test]
fn a_head_of_the_largest_numbers_is_an_error_or_a_record() {
    use sha2::{Digest, Sha256};
    let home = scratch();
    let ledger = small(home.path(), 500);
    ledger
        .append(&named("a", 300), Durability::Written)
        .unwrap();
    let size = home.path().join("00000001.jsonl").metadata().unwrap().len();
    let most = u64::MAX;
    let text = format!(
        "S 1 00000001 {size:020} {most:020} {most:020} {:020} 1 {}",
        7,
        "a".repeat(64)
    );
    let digest = Sha256::digest(&text);
    let check: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    fs::write(home.path().join("lock"), format!("{text} {check}\n")).unwrap();
    let _ = ledger.append(&named("b", 300), Durability::Written);
    let _ = ledger.checkpoint();
    assert!(!support::verified(home.path()).is_intact());
}

#[test]
fn a_line_of_a_hundred_megabytes_takes_no_more_memory_than_others() {
    let home = scratch();
    let ledger = small(home.path(), 1 << 30);
    ledger
        .append(&named("a", 300), Durability::Written)
        .unwrap();
    let path = home.path().join("00000001.jsonl");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(100 << 20).unwrap();
    assert!(!support::verified(home.path()).is_intact());
    ledger
        .append(&named("b", 300), Durability::Written)
        .unwrap();
    assert_eq!(support::mends(home.path(), "torn"), 1);
    let grown = fs::read_to_string("/proc/self/status").map(|status| {
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .map(str::to_owned);
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
    });
    if let Ok(Some(most)) = grown {
        assert!(most < 80 << 10, "{most} KiB");
    }
}
