//! What Redis commands would do.

use super::scripts::{TokenKind, tokens};
use super::{MAX_TEXT, StoreEffect, StoreKind, push};

/// What a command given as words does, the options of `redis-cli` already taken off. No words at
/// all do nothing.
pub(crate) fn command(words: &[&str]) -> Vec<StoreEffect> {
    let mut acts = Vec::new();
    add(words, &mut acts);
    acts
}

/// What the commands on the lines of a text do, as `redis-cli` reads them from its input.
pub(crate) fn lines(text: &str) -> Vec<StoreEffect> {
    let mut acts = Vec::new();
    let whole = text.len();
    let text = text
        .get(..text.floor_char_boundary(MAX_TEXT))
        .unwrap_or(text);
    for line in text.lines() {
        match split(line) {
            Some(words) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                add(&words, &mut acts);
            }
            None => push(&mut acts, StoreEffect::new(StoreKind::Unreadable, None)),
        }
    }
    if text.len() < whole {
        push(&mut acts, StoreEffect::new(StoreKind::Unreadable, None));
    }
    acts
}

fn add(words: &[&str], acts: &mut Vec<StoreEffect>) {
    // A number in front repeats the command.
    let words = match words {
        [count, rest @ ..]
            if !rest.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            rest
        }
        _ => words,
    };
    let Some((name, arguments)) = words.split_first() else {
        return;
    };
    let name = name.to_ascii_lowercase();
    let sub = arguments
        .first()
        .map(|sub| sub.to_ascii_lowercase())
        .unwrap_or_default();
    let detailed = DETAILED
        .iter()
        .find(|(known, known_sub, _)| *known == name && *known_sub == sub);
    let plain = || {
        COMMANDS
            .iter()
            .find(|(_, names)| names.split(' ').any(|known| known == name))
    };
    let (kind, object) = match detailed {
        Some((_, _, kind)) => (*kind, arguments.get(1)),
        None => (
            plain().map_or(StoreKind::Unreadable, |(kind, _)| *kind),
            arguments.first(),
        ),
    };
    if kind == StoreKind::DeleteKey && !arguments.is_empty() {
        for key in arguments {
            push(acts, StoreEffect::new(kind, Some((*key).to_owned())));
        }
        return;
    }
    let object = object.filter(|_| {
        !matches!(
            kind,
            StoreKind::FlushAll | StoreKind::FlushDb | StoreKind::Eval
        )
    });
    push(
        acts,
        StoreEffect::new(kind, object.map(|object| (*object).to_owned())),
    );
    if kind == StoreKind::Eval && name.starts_with("eval") {
        called_by(arguments.first().unwrap_or(&""), acts);
    }
}

/// What a Lua script calls by name: `redis.call('FLUSHALL')`.
fn called_by(script: &str, acts: &mut Vec<StoreEffect>) {
    let tokens = tokens(script);
    for (at, token) in tokens.iter().enumerate() {
        let is_call =
            token.kind == TokenKind::Word && matches!(token.text.as_str(), "call" | "pcall");
        if !is_call {
            continue;
        }
        // `call('x', key)`, and `call'x'` without parentheses.
        let mut words = Vec::new();
        for token in tokens.iter().skip(at + 1).take(MAX_WORDS) {
            match token.kind {
                TokenKind::Symbol('(' | ',') => {}
                TokenKind::Text => words.push(token.text.as_str()),
                TokenKind::Symbol(_)
                | TokenKind::Word
                | TokenKind::Unknown
                | TokenKind::Number
                | TokenKind::Pattern => {
                    if !token.is_symbol(')') {
                        words.push("?");
                    }
                    break;
                }
            }
        }
        add(&words, acts);
    }
}

/// Words of a call in a script that are looked at.
const MAX_WORDS: usize = 16;

/// A line as words; `None` if its quotes do not match, where redis-cli reports an error.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut chars = line.trim().chars().peekable();
    while chars.peek().is_some() {
        let mut word = String::new();
        match chars.peek() {
            Some(quote @ ('"' | '\'')) => {
                let quote = *quote;
                chars.next();
                loop {
                    match chars.next()? {
                        '\\' => word.push(chars.next()?),
                        char if char == quote => break,
                        char => word.push(char),
                    }
                }
                if chars.peek().is_some_and(|next| !next.is_whitespace()) {
                    return None;
                }
            }
            _ => {
                while let Some(char) = chars.next_if(|next| !next.is_whitespace()) {
                    word.push(char);
                }
            }
        }
        words.push(word);
        while chars.next_if(|next| next.is_whitespace()).is_some() {}
    }
    Some(words)
}

/// Commands whose second word decides.
const DETAILED: &[(&str, &str, StoreKind)] = &[
    ("config", "set", StoreKind::ConfigSet),
    ("config", "rewrite", StoreKind::ConfigSet),
    ("config", "resetstat", StoreKind::Admin),
    ("config", "get", StoreKind::Read),
    ("script", "exists", StoreKind::Read),
    ("script", "flush", StoreKind::Admin),
    ("script", "kill", StoreKind::Admin),
    ("function", "list", StoreKind::Read),
    ("function", "dump", StoreKind::Read),
    ("function", "stats", StoreKind::Read),
    ("acl", "list", StoreKind::Read),
    ("acl", "whoami", StoreKind::Read),
    ("acl", "cat", StoreKind::Read),
    ("acl", "getuser", StoreKind::Read),
    ("acl", "users", StoreKind::Read),
    ("acl", "deluser", StoreKind::DropRole),
    ("client", "list", StoreKind::Read),
    ("client", "info", StoreKind::Read),
    ("client", "id", StoreKind::Read),
    ("client", "getname", StoreKind::Read),
    ("client", "setname", StoreKind::Read),
    ("cluster", "info", StoreKind::Read),
    ("cluster", "nodes", StoreKind::Read),
    ("cluster", "slots", StoreKind::Read),
    ("cluster", "shards", StoreKind::Read),
    ("cluster", "keyslot", StoreKind::Read),
    ("slowlog", "get", StoreKind::Read),
    ("slowlog", "len", StoreKind::Read),
    ("memory", "usage", StoreKind::Read),
    ("memory", "stats", StoreKind::Read),
    ("memory", "doctor", StoreKind::Read),
    ("module", "list", StoreKind::Read),
    ("latency", "latest", StoreKind::Read),
    ("latency", "history", StoreKind::Read),
    ("latency", "doctor", StoreKind::Read),
];

/// Commands by what they do; one that is not here may be anything a module defines.
const COMMANDS: &[(StoreKind, &str)] = &[
    (StoreKind::FlushAll, "flushall"),
    (StoreKind::FlushDb, "flushdb"),
    (StoreKind::DeleteKey, "del unlink getdel"),
    (StoreKind::Shutdown, "shutdown"),
    (
        StoreKind::Eval,
        "eval evalsha eval_ro evalsha_ro fcall fcall_ro script function module",
    ),
    (
        StoreKind::Admin,
        "debug config acl client cluster slowlog memory latency replicaof slaveof failover save bgsave bgrewriteaof \
         swapdb migrate psync sync replconf reset monitor",
    ),
    (
        StoreKind::Read,
        "get mget getrange substr strlen exists ttl pttl expiretime pexpiretime type keys scan randomkey dbsize dump \
         object hget hmget hgetall hkeys hvals hlen hexists hscan hstrlen hrandfield lrange llen lindex lpos smembers \
         scard sismember smismember srandmember sscan sinter sintercard sunion sdiff zrange zrangebyscore zrangebylex \
         zrevrange zrevrangebyscore zrevrangebylex zcard zcount zlexcount zscore zmscore zrank zrevrank zscan \
         zrandmember zinter zintercard zunion zdiff xrange xrevrange xlen xread xinfo xpending bitcount bitpos getbit \
         bitfield_ro pfcount geopos geodist geohash georadius_ro georadiusbymember_ro geosearch sort_ro lcs info ping \
         echo time command lastsave role select auth hello quit subscribe psubscribe unsubscribe punsubscribe ssubscribe \
         pubsub wait multi exec discard watch unwatch readonly readwrite asking lolwut help",
    ),
    (
        StoreKind::Write,
        "set setex psetex setnx mset msetnx getset getex append incr incrby incrbyfloat decr decrby setrange setbit \
         bitfield bitop expire pexpire expireat pexpireat persist rename renamenx move copy restore touch hset hmset \
         hsetnx hdel hincrby hincrbyfloat hexpire lpush lpushx rpush rpushx lpop rpop blpop brpop lrem lset ltrim \
         linsert lmove blmove rpoplpush brpoplpush lmpop blmpop sadd srem spop smove sinterstore sunionstore sdiffstore \
         zadd zrem zincrby zpopmin zpopmax bzpopmin bzpopmax zremrangebyrank zremrangebyscore zremrangebylex \
         zinterstore zunionstore zdiffstore zrangestore zmpop bzmpop xadd xdel xtrim xack xclaim xautoclaim xgroup \
         xreadgroup xsetid pfadd pfmerge geoadd georadius georadiusbymember geosearchstore sort publish spublish",
    ),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(acts: &[StoreEffect]) -> Vec<String> {
        acts.iter()
            .map(|act| match &act.object {
                Some(object) => format!("{} {object}", act.kind.as_str()),
                None => act.kind.as_str().to_owned(),
            })
            .collect()
    }

    fn on_a_line(line: &str) -> Vec<String> {
        words(&lines(line))
    }

    #[test]
    fn commands_are_told_apart() {
        for (line, wanted) in [
            ("FLUSHALL", "flush-all"),
            ("flushall async", "flush-all"),
            ("FlushDB", "flush-db"),
            ("DEL k", "delete-key k"),
            ("CONFIG SET dir /var/www", "config-set dir"),
            ("config get *", "read *"),
            ("SHUTDOWN NOSAVE", "shutdown NOSAVE"),
            ("DEBUG SEGFAULT", "admin SEGFAULT"),
            ("KEYS *", "read *"),
            ("GET a", "read a"),
            ("SET a b", "write a"),
            ("EXPIRE a 0", "write a"),
            ("MODULE LOAD /tmp/x.so", "eval"),
            ("ACL DELUSER bob", "drop-role bob"),
            ("REPLICAOF evil 6379", "admin evil"),
            ("5 FLUSHALL", "flush-all"),
            ("\"FLUSHALL\"", "flush-all"),
            ("FLUSH\\ALL", "unreadable"),
            ("GET \"a", "unreadable"),
            ("FROBNICATE x", "unreadable x"),
        ] {
            assert_eq!(on_a_line(line), [wanted], "{line}");
        }
        assert_eq!(
            words(&command(&["DEL", "a", "b c"])),
            ["delete-key a", "delete-key b c"]
        );
        assert_eq!(command(&[]), []);
    }

    #[test]
    fn every_line_is_a_command_and_a_value_is_none() {
        assert_eq!(on_a_line("GET a\n\nFLUSHALL\r\n"), ["read a", "flush-all"]);
        assert_eq!(on_a_line("SET a \"x; FLUSHALL\""), ["write a"]);
        assert_eq!(on_a_line("SET a 'it\\'s'"), ["write a"]);
    }

    #[test]
    fn a_script_shows_what_it_calls_by_name() {
        assert_eq!(
            on_a_line("EVAL \"return redis.call('FLUSHALL')\" 0"),
            ["eval", "flush-all"]
        );
        assert_eq!(
            words(&command(&["EVAL", "redis.pcall('del', KEYS[1])", "1", "a"])),
            ["eval", "delete-key ?"]
        );
        for (script, wanted) in [
            ("redis.call'flushdb'", "flush-db"),
            ("redis.call(x)", "unreadable"),
        ] {
            assert_eq!(words(&command(&["EVAL", script, "0"])), ["eval", wanted]);
        }
        assert_eq!(words(&command(&["EVALSHA", "abc", "0"])), ["eval"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-zA-Z0-9 '\"\\\\\n().]{0,200}") {
            let found = lines(&text);
            prop_assert!(found.len() <= text.len() + 1);
        }

        #[test]
        fn words_survive_quoting(value in "[^\\x00\n\r]{0,30}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(split(&format!("GET \"{quoted}\"")), Some(vec!["GET".to_owned(), value]));
        }
    }
}
