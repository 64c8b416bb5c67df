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
// The page takes no click on a card that has only just come under the pointer.
const press = async (card, act) => {
  await card.waitFor({ timeout: 60_000 });
  await page.waitForTimeout(700);
  await card.locator(`[data-act="${act}"]`).first().click();
};
for (const { text, act, comment, to } of JSON.parse(answers)) {
  const card = page.locator(".card:not(.ended)", { hasText: text });
  await press(card, act);
  if (act === "comment" || act === "edit") {
    await dialog.locator("textarea").fill(act === "comment" ? comment : to);
    await dialog.locator("button[type=submit]").click();
  }
  if (act === "edit") {
    await press(page.locator(".card:not(.ended)", { hasText: to }), "release");
  }
  await page.locator(".card.ended", { hasText: to ?? text }).waitFor();
}
await browser.close();
