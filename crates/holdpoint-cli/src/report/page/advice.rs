//! Suggestions, as they are shown.

use super::html::Html;
use super::words::{count, number, part};
use super::{bars, more};
use crate::report::summary::{Advice, Fired, Summary, Verdicts};

/// The section of suggestions.
pub(super) fn show(html: &mut Html, summary: &Summary) {
    let advice = &summary.advice;
    html.raw("<section class=\"card\" id=\"advice\"><h2>Suggestions</h2>");
    if let Some(problem) = &advice.problem {
        html.around(
            "<p class=\"hollow\">The policy in force cannot be read, so no rule is suggested: ",
            problem,
            "</p>",
        );
    } else {
        allow_rules(html, advice);
    }
    denials(html, advice);
    html.raw("<div class=\"two inner\">");
    unused(html, advice);
    asked(html, advice);
    html.raw("</div></section>");
}

fn allow_rules(html: &mut Html, advice: &Advice) {
    html.raw("<h3>Rules that would have saved asks</h3>");
    let Some(snippet) = &advice.snippet else {
        html.raw(
            "<p class=\"hollow\">Nothing was asked often enough and always approved, or what was \
             is better asked about: shells, interpreters, wrappers and whatever is risky are never \
             suggested.</p>",
        );
        return;
    };
    html.raw(
        "<p class=\"lead\">Asked again and again, and always approved. Each was tried on the policy \
         in force: it releases these calls, and nothing a rule of the packs holds for another \
         reason. Nothing that is denied changes.</p><ul class=\"offers\">",
    );
    for offer in &advice.allow {
        html.raw("<li><div class=\"saves\"><b>")
            .text(&number(offer.saves))
            .raw("</b> ")
            .raw(if offer.saves == 1 { "ask" } else { "asks" })
            .raw("</div><div><p>");
        for (place, pattern) in offer.patterns.iter().enumerate() {
            if place > 0 {
                html.raw(" and ");
            }
            html.around("<code class=\"rule\">", pattern, "</code>");
        }
        html.raw("</p><p class=\"faint\">");
        html.text(&format!(
            "{} of them approved, none refused",
            number(offer.approved)
        ));
        if !offer.asked_by.is_empty() {
            html.raw("; asked by ");
            for (place, rule) in offer.asked_by.iter().enumerate() {
                if place > 0 {
                    html.raw(", ");
                }
                html.around("<code>", rule, "</code>");
            }
        }
        if !offer.patterns.contains(&offer.example) {
            html.around(". For example <code>", &offer.example, "</code>");
        }
        html.raw("</p></div></li>");
    }
    html.raw("</ul>");
    let what = if snippet.new {
        "Read them first. To allow all of them, make "
    } else {
        "Read them first. To allow all of them, add this to "
    };
    html.around("<p>", what, "<code>")
        .text(&snippet.file)
        .raw("</code>:</p><pre tabindex=\"0\"><code>")
        .lines(&snippet.text)
        .raw("</code></pre>");
}

fn denials(html: &mut Html, advice: &Advice) {
    if advice.denials.listed.is_empty() {
        return;
    }
    html.raw(
        "<h3>Denied again and again</h3><p class=\"lead\">Agents keep trying these. Telling them \
         once, in their instructions, saves the attempts.</p><ul class=\"offers\">",
    );
    for denial in &advice.denials.listed {
        html.around(
            "<li><div class=\"saves deny\"><b>",
            &number(denial.count),
            "</b> denied</div>",
        );
        html.around("<div><p><code class=\"rule\">", &denial.rule, "</code> ");
        html.around(
            "<span class=\"faint\">in ",
            &count(denial.sessions, "session"),
            "</span></p>",
        );
        if !denial.reason.is_empty() {
            html.around("<p class=\"faint\">", &denial.reason, "</p>");
        }
        if let Some(instead) = &denial.instead {
            html.around("<p><b>Instead:</b> ", instead, "</p>");
        }
        html.raw("</div></li>");
    }
    html.raw("</ul>");
    more(html, &advice.denials);
}

fn unused(html: &mut Html, advice: &Advice) {
    html.raw("<div><h3>Rules that never fire</h3>");
    let unused = &advice.unused;
    if unused.packs.is_empty() && unused.own.listed.is_empty() {
        html.raw("<p class=\"hollow\">Nothing is known about unused rules.</p></div>");
        return;
    }
    if unused.own.total > 0 {
        html.raw("<p>Of your own, these decided nothing in this period:</p>");
        for rules in unused
            .own
            .listed
            .chunk_by(|one, other| one.file == other.file)
        {
            let file = rules.first().map(|rule| rule.file.as_str());
            html.around(
                "<p class=\"faint\"><code>",
                file.unwrap_or_default(),
                "</code></p>",
            );
            html.raw("<ul class=\"plain\">");
            for own in rules {
                html.around("<li><code>", &own.rule, "</code> <span class=\"faint\">");
                html.around("in ", &own.list, "</span></li>");
            }
            html.raw("</ul>");
        }
        more(html, &unused.own);
    } else {
        html.raw("<p>No rule of your own went unused in this period.</p>");
    }
    packs(html, &unused.packs);
    html.raw("</div>");
}

fn packs(html: &mut Html, packs: &[Fired]) {
    let (rules, fired) = packs.iter().fold((0, 0), |(rules, fired), pack| {
        (rules + pack.rules, fired + pack.fired)
    });
    if rules == 0 {
        return;
    }
    html.raw("<p>Of the shipped packs, ")
        .text(&format!("{} of {}", number(fired), count(rules, "rule")))
        .raw(" matched something. The others cost nothing and stand by.</p><details><summary>");
    html.raw("Show pack by pack</summary><table class=\"small\"><thead><tr>");
    html.raw("<th scope=\"col\">Pack</th><th scope=\"col\" class=\"n\">Matched</th>");
    html.raw("<th scope=\"col\" class=\"n\">Rules</th></tr></thead><tbody>");
    for pack in packs {
        html.around("<tr><th scope=\"row\"><code>", &pack.pack, "</code></th>");
        html.around("<td class=\"n\">", &number(pack.fired), "</td>");
        html.around("<td class=\"n\">", &number(pack.rules), "</td></tr>");
    }
    html.raw("</tbody></table></details>");
}

fn asked(html: &mut Html, advice: &Advice) {
    html.raw("<div><h3>Tools asked about most</h3>");
    if advice.asked.is_empty() {
        html.raw("<p class=\"hollow\">Nobody was asked about anything.</p></div>");
        return;
    }
    let lines: Vec<(String, Verdicts, String)> = advice
        .asked
        .iter()
        .map(|one| {
            let asks = Verdicts {
                ask: one.asks,
                ..Verdicts::default()
            };
            let of = part(one.asks, one.calls);
            let note = format!("{of} of its {}", count(one.calls, "call"));
            (one.tool.clone(), asks, note)
        })
        .collect();
    bars(html, &lines, |(tool, asks, note)| (tool, asks, Some(note)));
    html.raw("</div>");
}
