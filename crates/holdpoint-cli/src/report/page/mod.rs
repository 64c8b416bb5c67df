//! A summary as one page of HTML: no script, nothing from the network, readable anywhere.

mod advice;
mod html;
mod plots;
mod words;

use base64ct::{Base64, Encoding};
use holdpoint_ledger::Timestamp;
use sha2::{Digest, Sha256};

use self::html::Html;
use self::plots::{Title, bar, bucket_words, class_of, in_words, legend, rate, spread, stacked};
use self::words::{bytes, count, duration, full_day, minute, number, part, share};
use super::summary::{
    Durations, Group, LedgerState, Observing, Ranked, SessionLine, Summary, Verdicts,
};

/// How every page begins; by this a page is known again.
pub(super) const OPENING: &str = "<!doctype html>\n<!-- holdpoint report 1 -->\n";

const STYLE: &str = include_str!("style.css");

/// The page.
pub fn page(summary: &Summary) -> String {
    let mut html = Html::default();
    html.raw(OPENING);
    head(&mut html, summary);
    html.raw("<body><a class=\"skip\" href=\"#main\">Skip to the figures</a>");
    header(&mut html, summary);
    html.raw("<main id=\"main\">");
    if summary.calls == 0 {
        nothing(&mut html, summary);
    } else {
        tiles(&mut html, summary);
        if let Some(observed) = &summary.observed {
            observing(&mut html, observed);
        }
        over_time(&mut html, summary);
        asking(&mut html, summary);
        rules(&mut html, summary);
        advice::show(&mut html, summary);
        times(&mut html, summary);
        breakdowns(&mut html, summary);
        sessions(&mut html, summary);
    }
    ledger(&mut html, &summary.ledger);
    html.raw("</main><footer>Made by Holdpoint on ")
        .text(&full_day(summary.made))
        .raw(" at ")
        .text(&words::clock(summary.made))
        .raw(
            " UTC from its ledger alone. All times are UTC. Arguments were redacted before they \
             were recorded. The page asks the network for nothing and runs no script.</footer>\
             </body></html>\n",
        );
    html.finish()
}

fn head(html: &mut Html, summary: &Summary) {
    html.raw(
        "<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\"",
    );
    let digest = Base64::encode_string(&Sha256::digest(STYLE));
    html.raw(" content=\"default-src 'none'; style-src 'sha256-")
        .text(&digest)
        .raw("'; base-uri 'none'; form-action 'none'\">")
        .raw(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <meta name=\"referrer\" content=\"no-referrer\">\
             <meta name=\"robots\" content=\"noindex\"><title>Holdpoint report",
        );
    if let Some(words) = period(summary) {
        html.raw(": ").text(&words);
    }
    html.raw("</title><style>")
        .raw(STYLE)
        .raw("</style></head>");
}

fn period(summary: &Summary) -> Option<String> {
    let from = summary.period.since.or(summary.period.first)?;
    // The end that was asked for is the first moment that no longer counts.
    let until = summary
        .period
        .until
        .map(|until| until.micros().saturating_sub(1));
    let to = until.map(Timestamp::from_micros).or(summary.period.last)?;
    let (from, to) = (full_day(from), full_day(to));
    Some(if from == to {
        from
    } else {
        format!("{from} – {to}")
    })
}

fn header(html: &mut Html, summary: &Summary) {
    html.raw("<header><div class=\"brand\"><p class=\"kicker\">Holdpoint report</p><h1>");
    let title = match (period(summary), summary.ledger.records) {
        (Some(words), _) => words,
        (None, 0) => "Nothing on record yet".into(),
        (None, _) => "No calls in this period".into(),
    };
    html.text(&title);
    html.raw("</h1><p class=\"sub\">");
    if summary.calls > 0 {
        html.text(&count(summary.calls, "tool call"))
            .raw(" by ")
            .text(&count(summary.agents.total, "agent"))
            .raw(" in ")
            .text(&count(summary.sessions.total, "session"))
            .raw(", each judged before it ran.");
    } else {
        html.raw("What agents ask to do is recorded here once it has been judged.");
    }
    html.raw("</p></div>");
    seal(html, &summary.ledger);
    if summary.calls > 0 {
        html.raw(
            "<nav aria-label=\"Sections\"><a href=\"#time\">Over time</a>\
             <a href=\"#asking\">Asking</a><a href=\"#rules\">Rules</a>\
             <a href=\"#advice\">Suggestions</a><a href=\"#times\">Time to decide</a>\
             <a href=\"#tools\">Tools and agents</a><a href=\"#sessions\">Sessions</a>\
             <a href=\"#ledger\">Ledger</a></nav>",
        );
    }
    html.raw("</header>");
}

/// Whether the ledger can be relied on, in a glance.
fn seal(html: &mut Html, ledger: &LedgerState) {
    let (class, word) = match (ledger.records, ledger.intact) {
        (0, true) => ("seal quiet", "Ledger is empty"),
        // Green says that nobody without the key can have changed it, and that holds for what is signed.
        (_, true) if ledger.unsigned() > 0 => ("seal quiet", "Chain verified"),
        (_, true) => ("seal good", "Chain verified"),
        (_, false) => ("seal bad", "Ledger does not verify"),
    };
    html.raw("<a href=\"#ledger\"")
        .attribute("class", class)
        .around("><strong>", word, "</strong><span>");
    if ledger.intact && ledger.signed == 0 {
        html.text(&count(ledger.records, "record"))
            .raw(", none signed");
    } else if ledger.intact {
        html.raw("Signed up to record ")
            .text(&number(ledger.signed))
            .raw(" of ")
            .text(&number(ledger.records));
    } else {
        html.raw("What follows may be incomplete or changed");
    }
    html.raw("</span></a>");
}

fn nothing(html: &mut Html, summary: &Summary) {
    html.raw("<section class=\"card empty\"><h2>No calls in this period</h2><p>");
    if summary.ledger.records == 0 {
        html.raw(
            "Nothing is on record yet. Once an agent is set up with <code>holdpoint init</code>, \
             every call it makes is judged and recorded, and the next report has something to \
             show.",
        );
    } else {
        html.raw("The ledger holds ")
            .text(&count(summary.ledger.records, "record"))
            .raw(
                ", but no call was judged in this period. Choose another with \
                 <code>--since</code> and <code>--until</code>.",
            );
    }
    html.raw("</p></section>");
}

fn tile(html: &mut Html, class: &'static str, value: &str, label: &str, note: &str) {
    html.raw("<div")
        .attribute("class", format_args!("tile {class}"))
        .around("><dt>", label, "</dt>")
        .around("<dd class=\"value\">", value, "</dd>")
        .around("<dd class=\"note\">", note, "</dd></div>");
}

fn tiles(html: &mut Html, summary: &Summary) {
    let (calls, verdicts, asks) = (summary.calls, &summary.verdicts, &summary.asks);
    html.raw(
        "<section aria-labelledby=\"overview-h\"><h2 id=\"overview-h\" class=\"quiet\">Overview\
         </h2><dl class=\"tiles\">",
    );
    tile(html, "", &number(calls), "Calls judged", &per_day(summary));
    let ran = verdicts.allow + verdicts.notify + verdicts.contain;
    tile(
        html,
        "allow",
        &part(ran, calls),
        "Let through",
        &count(ran, "call"),
    );
    tile(
        html,
        "ask",
        &share(asks.ask_rate),
        "Ask rate",
        &format!("{} put to a person", count(asks.asked, "call")),
    );
    let ended = asks.approved + asks.refused + asks.expired;
    let answers = match ended {
        0 => "no answer on record".to_owned(),
        _ => format!("{} of {} answered", number(asks.approved), number(ended)),
    };
    tile(
        html,
        "plain",
        &share(asks.approval_rate),
        "Approval rate",
        &answers,
    );
    tile(
        html,
        "deny",
        &number(verdicts.deny),
        "Denied",
        &format!("{} of calls", part(verdicts.deny, calls)),
    );
    let agents = count(summary.agents.total, "agent");
    tile(
        html,
        "",
        &number(summary.sessions.total),
        "Sessions",
        &agents,
    );
    html.raw("</dl><div class=\"card shares\"><h3>Verdicts</h3>");
    bar(html, verdicts, calls, 22);
    html.raw("<ul class=\"legend wide\">");
    for (verdict, some) in verdicts.each() {
        html.raw("<li><span")
            .attribute("class", format_args!("key {}", class_of(verdict)))
            .around("></span>", verdict.as_str(), " <b>")
            .text(&part(some, calls))
            .around("</b> <span class=\"faint\">", &number(some), "</span></li>");
    }
    html.raw("</ul></div></section>");
}

fn per_day(summary: &Summary) -> String {
    let days = match (summary.period.first, summary.period.last) {
        (Some(first), Some(last)) => last.day().saturating_sub(first.day()) + 1,
        _ => 1,
    };
    match days {
        1 => "on one day".into(),
        days => format!("{} a day on average", number(summary.calls / days)),
    }
}

fn over_time(html: &mut Html, summary: &Summary) {
    let series = &summary.over_time;
    let step = series.step.words();
    html.raw("<section class=\"card\" id=\"time\"><h2>Calls and verdicts over time</h2>");
    html.around(
        "<p class=\"lead\">Calls judged per ",
        &step,
        ", split by verdict.</p>",
    );
    legend(html, &summary.verdicts);
    let busiest = series.buckets.iter().max_by_key(|one| one.verdicts.total());
    let description = busiest.map_or_else(String::new, |one| {
        format!(
            "{} in {} steps of one {step}. The busiest is {} with {}.",
            count(summary.calls, "call"),
            series.buckets.len(),
            bucket_words(series, one),
            count(one.verdicts.total(), "call")
        )
    });
    let title = Title {
        id: "plot-time",
        title: "Calls over time by verdict",
        description: &description,
    };
    stacked(html, series, &title);
    html.raw(
        "<details><summary>Show as a table</summary><div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Calls, asks and answers over time\"><table><thead><tr>\
         <th scope=\"col\">From</th><th scope=\"col\">Calls</th><th scope=\"col\">Allow</th>\
         <th scope=\"col\">Notify</th><th scope=\"col\">Ask</th><th scope=\"col\">Review</th>\
         <th scope=\"col\">Deny</th><th scope=\"col\">Answered</th>\
         <th scope=\"col\">Approved</th></tr></thead><tbody>",
    );
    for bucket in &series.buckets {
        html.around(
            "<tr><th scope=\"row\">",
            &bucket_words(series, bucket),
            "</th>",
        );
        cell(html, bucket.verdicts.total());
        for (_, some) in bucket.verdicts.each() {
            cell(html, some);
        }
        cell(html, bucket.answered);
        cell(html, bucket.approved);
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></details></section>");
}

fn cell(html: &mut Html, value: u64) {
    html.around("<td class=\"n\">", &number(value), "</td>");
}

fn asking(html: &mut Html, summary: &Summary) {
    let (series, asks) = (&summary.over_time, &summary.asks);
    html.raw("<div class=\"two\" id=\"asking\"><section class=\"card\"><h2>Ask rate</h2>");
    html.raw("<p class=\"lead\">How many of a hundred calls a person was asked about. ");
    html.text(&format!("{} over the whole period.", share(asks.ask_rate)));
    html.raw("</p>");
    let description = format!(
        "{} of {} were asked about, {}.",
        number(asks.asked),
        count(summary.calls, "call"),
        share(asks.ask_rate)
    );
    let title = Title {
        id: "plot-ask",
        title: "Ask rate over time",
        description: &description,
    };
    rate(html, series, &title, "ask", |one| {
        (one.verdicts.held(), one.verdicts.total())
    });
    html.raw("</section><section class=\"card\"><h2>Approval rate</h2>");
    let ended = asks.approved + asks.refused + asks.expired;
    html.raw("<p class=\"lead\">How many of a hundred answered questions were approved. ");
    if ended == 0 {
        html.raw(
            "</p><p class=\"hollow\">No answer is on record in this period. Where the agent's own \
             dialog asks, an approved call shows once it has run.</p></section></div>",
        );
        return;
    }
    html.text(&format!(
        "{} approved, {} refused, {} expired, {} without an answer on record.",
        number(asks.approved),
        number(asks.refused),
        number(asks.expired),
        number(asks.unanswered)
    ));
    html.raw("</p>");
    let description = format!("{} of {} answers approved.", asks.approved, ended);
    let title = Title {
        id: "plot-approval",
        title: "Approval rate over time",
        description: &description,
    };
    rate(html, series, &title, "allow", |one| {
        (one.approved, one.answered)
    });
    html.raw("</section></div>");
}

/// Lines with a name, a bar and a number.
fn bars<T>(html: &mut Html, lines: &[T], about: impl Fn(&T) -> (&str, &Verdicts, Option<&str>)) {
    let most = lines.iter().map(|line| about(line).1.total()).max();
    html.raw("<ol class=\"bars\">");
    for line in lines {
        let (name, verdicts, note) = about(line);
        html.around(
            "<li><code class=\"name\">",
            name,
            "</code><span class=\"n\">",
        );
        html.text(&number(verdicts.total())).raw("</span>");
        bar(html, verdicts, most.unwrap_or(1), 12);
        html.around("<span class=\"hidden\">", &in_words(verdicts), "</span>");
        if let Some(note) = note.filter(|note| !note.is_empty()) {
            html.around("<span class=\"why\">", note, "</span>");
        }
        html.raw("</li>");
    }
    html.raw("</ol>");
}

fn more<T>(html: &mut Html, list: &Ranked<T>) {
    if list.more() > 0 {
        html.around(
            "<p class=\"more\">… and ",
            &number(list.more()),
            " more</p>",
        );
    }
}

fn sum<'a>(all: impl Iterator<Item = &'a Verdicts>) -> Verdicts {
    all.fold(Verdicts::default(), |mut sum, one| {
        sum.add(one);
        sum
    })
}

/// What would have been said while nothing was enforced.
fn observing(html: &mut Html, observed: &Observing) {
    let Verdicts {
        ask, review, deny, ..
    } = observed.verdicts;
    html.raw("<section class=\"card\" id=\"observed\"><h2>Only observed</h2><p class=\"lead\">");
    html.text(&format!(
        "Nothing was enforced for {}. Had it been: {} asked about, {} denied.",
        count(observed.calls, "call"),
        number(ask + review),
        number(deny)
    ));
    html.raw(" <code>holdpoint init --enforce</code> turns it on.</p>");
    legend(html, &observed.verdicts);
    if !observed.profiles.is_empty() {
        html.raw("<h3>The same calls by profile</h3>");
        bars(html, &observed.profiles, |line| {
            (&line.name, &line.verdicts, None)
        });
    }
    html.raw("</section><div class=\"two\"><section class=\"card\"><h2>Rules that would have objected</h2>");
    if observed.rules.listed.is_empty() {
        html.raw("<p class=\"hollow\">No rule objected to a call that was only observed.</p>");
    } else {
        bars(html, &observed.rules.listed, |line| {
            (&line.rule, &line.verdicts, Some(&line.reason))
        });
        more(html, &observed.rules);
    }
    html.raw("</section><section class=\"card\"><h2>Agents that were only observed</h2>");
    bars(html, &observed.agents.listed, |line| {
        (&line.name, &line.verdicts, None)
    });
    more(html, &observed.agents);
    html.raw("</section></div>");
}

fn rules(html: &mut Html, summary: &Summary) {
    html.raw("<div class=\"two\" id=\"rules\">");
    for (title, lead, none, lines) in [
        (
            "Rules that asked or denied most",
            "Calls by the rule that held or refused them.",
            "No rule held or refused a call in this period.",
            &summary.objecting,
        ),
        (
            "Rules that let most through",
            "Calls by the rule that allowed them.",
            "No rule allowed a call in this period: defaults did, or nothing objected.",
            &summary.allowing,
        ),
    ] {
        html.around("<section class=\"card\"><h2>", title, "</h2>");
        html.around("<p class=\"lead\">", lead, "</p>");
        if lines.listed.is_empty() {
            html.around("<p class=\"hollow\">", none, "</p>");
        } else {
            legend(html, &sum(lines.listed.iter().map(|one| &one.verdicts)));
            bars(html, &lines.listed, |line| {
                (&line.rule, &line.verdicts, Some(&line.reason))
            });
            more(html, lines);
        }
        html.raw("</section>");
    }
    html.raw("</div>");
}

fn times(html: &mut Html, summary: &Summary) {
    html.raw("<div class=\"two\" id=\"times\">");
    let shown = |html: &mut Html, times: &Durations, title: &Title<'_>, noun: &str, none| {
        html.around(
            "<section class=\"card\"><h2>",
            title.title,
            "</h2><p class=\"lead\">",
        );
        html.text(title.description).raw("</p>");
        if times.count == 0 {
            html.around("<p class=\"hollow\">", none, "</p></section>");
            return;
        }
        spread(html, times, title, noun);
        html.raw("<dl class=\"facts\">");
        for (name, value) in [
            ("Half within", times.p50_us),
            ("95% within", times.p95_us),
            ("99% within", times.p99_us),
            ("Longest", times.longest_us),
        ] {
            let value = value.map_or("–".into(), duration);
            html.around("<div><dt>", name, "</dt><dd>")
                .text(&value)
                .raw("</dd></div>");
        }
        html.raw("</dl></section>");
    };
    shown(
        html,
        &summary.judged,
        &Title {
            id: "plot-judged",
            title: "Time Holdpoint took to judge",
            description: "How long a call waited for its verdict; the scale is logarithmic.",
        },
        "call",
        "No record in this period says how long judging took.",
    );
    shown(
        html,
        &summary.answered,
        &Title {
            id: "plot-answered",
            title: "Time people took to answer",
            description: "From the question to its answer; the scale is logarithmic.",
        },
        "answer",
        "No answer of a person is on record in this period.",
    );
    html.raw("</div>");
}

fn breakdowns(html: &mut Html, summary: &Summary) {
    let card = |html: &mut Html, title: &'static str, groups: &Ranked<Group>| {
        html.around("<section class=\"card\"><h2>", title, "</h2>");
        legend(html, &sum(groups.listed.iter().map(|one| &one.verdicts)));
        bars(html, &groups.listed, |group| {
            (&group.name, &group.verdicts, None)
        });
        more(html, groups);
        html.raw("</section>");
    };
    html.raw("<div class=\"two\" id=\"tools\">");
    card(html, "Tools", &summary.tools);
    html.raw("<div class=\"pile\">");
    card(html, "Agents", &summary.agents);
    let risks = ["critical", "high", "medium", "low", "none"];
    let groups: Vec<Group> = risks
        .into_iter()
        .filter_map(|risk| {
            let verdicts = *summary.risks.get(risk)?;
            (verdicts.total() > 0).then(|| Group {
                name: risk.to_owned(),
                verdicts,
            })
        })
        .collect();
    let total = u64::try_from(groups.len()).unwrap_or(u64::MAX);
    let listed = Ranked {
        total,
        listed: groups,
    };
    card(html, "Risk", &listed);
    html.raw("</div></div>");
}

fn sessions(html: &mut Html, summary: &Summary) {
    html.raw("<section class=\"card\" id=\"sessions\"><h2>Sessions</h2>");
    if summary.sessions.listed.is_empty() {
        html.raw("<p class=\"hollow\">No record in this period names a session.</p></section>");
        return;
    }
    html.raw("<p class=\"lead\">The latest first. Bars show each session's calls by verdict.</p>");
    html.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Sessions\"><table>\
         <thead><tr><th scope=\"col\">Session</th><th scope=\"col\">Agent</th>\
         <th scope=\"col\">First call</th><th scope=\"col\">Lasted</th>\
         <th scope=\"col\" class=\"n\">Calls</th><th scope=\"col\" class=\"wide\">Verdicts</th>\
         <th scope=\"col\" class=\"n\">Asks</th><th scope=\"col\" class=\"n\">Denials</th>\
         <th scope=\"col\">Highest risk</th></tr></thead><tbody>",
    );
    for session in &summary.sessions.listed {
        session_row(html, session);
    }
    html.raw("</tbody></table></div>");
    more(html, &summary.sessions);
    html.raw("</section>");
}

fn session_row(html: &mut Html, session: &SessionLine) {
    let took = session.last.since(session.first).as_micros();
    let took = u64::try_from(took).unwrap_or(u64::MAX);
    html.raw("<tr><th scope=\"row\"><code")
        .attribute("title", &session.session)
        .around(">", &session.session, "</code></th>");
    html.around("<td>", &session.agent, "</td>");
    html.around("<td>", &minute(session.first), "</td>");
    let took = if took < 1_000_000 {
        "a moment".into()
    } else {
        duration(took)
    };
    html.around("<td>", &took, "</td>");
    cell(html, session.verdicts.total());
    html.raw("<td class=\"wide\">");
    bar(html, &session.verdicts, session.verdicts.total(), 10);
    html.around(
        "<span class=\"hidden\">",
        &in_words(&session.verdicts),
        "</span></td>",
    );
    cell(html, session.verdicts.held());
    cell(html, session.verdicts.deny);
    html.raw("<td><span")
        .attribute("class", format_args!("risk {}", session.risk.as_str()))
        .around(">", session.risk.as_str(), "</span></td></tr>");
}

fn ledger(html: &mut Html, ledger: &LedgerState) {
    html.raw("<section class=\"card\" id=\"ledger\"><h2>The ledger</h2><p class=\"lead\">");
    if ledger.intact && ledger.records == 0 {
        html.raw("There is nothing to verify yet.");
    } else if ledger.intact {
        html.raw(
            "Verified when this page was made: every record follows the one before it, and every \
             checkpoint is signed and fits. What stands after the last checkpoint is not signed: \
             whoever may write the files could have changed it.",
        );
    } else {
        html.raw(
            "<strong class=\"alarm\">Verification failed.</strong> Records were changed, removed or \
             added, or a file is damaged. Run <code>holdpoint log verify</code>.",
        );
    }
    html.raw("</p><dl class=\"facts\">");
    let last = ledger.last_checkpoint.map_or("none".into(), minute);
    for (name, value) in [
        ("Records", number(ledger.records)),
        ("Size", bytes(ledger.bytes)),
        ("Checkpoints", number(ledger.checkpoints)),
        ("Records signed", number(ledger.signed)),
        ("Last checkpoint", last),
        ("Lines not readable", number(ledger.unreadable)),
    ] {
        html.around("<div><dt>", name, "</dt><dd>")
            .text(&value)
            .raw("</dd></div>");
    }
    html.raw("</dl>");
    for (title, lines, class) in [
        ("What is wrong", &ledger.faults, "faults"),
        ("Worth knowing", &ledger.notes, "notes"),
    ] {
        if !lines.is_empty() {
            html.around("<h3>", title, "</h3><ul")
                .attribute("class", class)
                .raw(">");
            for line in lines {
                html.around("<li>", line, "</li>");
            }
            html.raw("</ul>");
        }
    }
    if ledger.more_faults > 0 {
        html.around(
            "<p class=\"more\">… and ",
            &number(ledger.more_faults),
            " more</p>",
        );
    }
    html.around(
        "<p class=\"faint\">In <code>",
        &ledger.directory,
        "</code></p></section>",
    );
}
