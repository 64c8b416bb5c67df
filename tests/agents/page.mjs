// Answers what waits, on the real page in a real browser, as a person would.
//   node page.mjs PLAYWRIGHT CHROMIUM URL ANSWERS
// ANSWERS is JSON: [{"text": "touch a", "act": "release"}, {"text": …, "act": "comment", "comment": …},
// {"text": …, "act": "edit", "to": …}], in the order in which they are given.
const [playwright, executablePath, url, answers] = process.argv.slice(2);
const { chromium } = (await import(playwright)).default ?? (await import(playwright));

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.goto(url);
await page.locator("#status .line.live").waitFor();
const dialog = page.locator("dialog[open]");
// The page takes no click on a card that has only just come under the pointer; a person whose click
// came to nothing clicks again.
const press = async (card, act, effect) => {
  await card.waitFor({ timeout: 60_000 });
  for (let tries = 0; tries < 20; tries += 1) {
    await page.waitForTimeout(700);
    const one = card.locator(`[data-act="${act}"]`).first();
    // All but the loudest button is behind *More*.
    if (!(await one.isVisible())) await card.locator(".rest summary").click({ timeout: 2_000 }).catch(() => {});
    await one.click({ timeout: 2_000 }).catch(() => {});
    // What is risky takes a second step.
    if (act === "release") await page.locator("dialog [data-go]").click({ timeout: 300 }).catch(() => {});
    if (await effect.waitFor({ timeout: 2_000 }).then(() => true, () => false)) return;
  }
  throw new Error(`\`${act}\` has no effect`);
};
const waiting = (text) => page.locator(".card:not(.ended)", { hasText: text });
const ended = (text) => page.locator(".card.ended", { hasText: text });
for (const { text, act, comment, to } of JSON.parse(answers)) {
  if (act === "release") {
    await press(waiting(text), act, ended(text));
    continue;
  }
  await press(waiting(text), act, dialog.locator("textarea"));
  await dialog.locator("textarea").fill(act === "comment" ? comment : to);
  await dialog.locator("button[type=submit]").click();
  if (act === "edit") await press(waiting(to), "release", ended(to));
  await ended(to ?? text).waitFor();
}
await browser.close();
