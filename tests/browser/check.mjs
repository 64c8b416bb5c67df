// Looks at the pages in a real browser. Arguments: the driver, the browser, the pages' directory,
// a directory for pictures.
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [driver, executablePath, pages, pictures] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(path.join(driver, "index.mjs")))).default;

const screens = [
  { name: "wide", viewport: { width: 1280, height: 900 } },
  { name: "narrow", viewport: { width: 390, height: 844 } },
  { name: "dark", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  { name: "plain", viewport: { width: 1280, height: 900 }, javaScriptEnabled: false },
];

// The page's own measure of itself. It runs none of its own script; this is the driver's.
function measure() {
  const box = (element) => element.getBoundingClientRect();
  const seen = (element) => box(element).width > 0 && box(element).height > 0;
  const root = document.documentElement;
  const inScroller = (element) => element.closest(".scroll, pre, .hidden, .skip, details:not([open])");
  const wide = [...document.querySelectorAll("body *")]
    .filter((element) => !inScroller(element) && !element.closest("svg svg"))
    .filter((element) => box(element).right > root.clientWidth + 1 || box(element).left < -1)
    .map((element) => `${element.tagName} ${element.getAttribute("class") ?? ""}`);
  const labels = [...document.querySelectorAll("svg text")].filter(seen);
  const clashes = [];
  for (const svg of document.querySelectorAll("svg.field, svg.scale")) {
    const texts = [...svg.querySelectorAll("text")].filter(seen).map((text) => [text.textContent, box(text)]);
    texts.forEach(([one, a], index) => {
      for (const [other, b] of texts.slice(index + 1)) {
        const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        if (!apart) clashes.push(`${one} / ${other}`);
      }
    });
  }
  const level = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map((part) => part / 255)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/, 0\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const pale = [...document.querySelectorAll("p, dt, dd, li, td, th, h1, h2, h3, summary, a, b, svg text")]
    .filter((element) => seen(element) && element.textContent.trim())
    .filter((element) => {
      const style = getComputedStyle(element);
      const ink = level(element.tagName === "text" ? style.fill : style.color);
      const paper = level(ground(element));
      const large = parseFloat(style.fontSize) >= 18.5 && Number(style.fontWeight) >= 600;
      return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < (large ? 3 : 4.5);
    })
    .map((element) => `${element.tagName} ${element.textContent.slice(0, 40)}`);
  return {
    title: document.title,
    text: document.body.innerText,
    overflow: root.scrollWidth - root.clientWidth,
    wide,
    clashes,
    pale,
    charts: [...document.querySelectorAll("svg.field")].map((svg) => [box(svg).width, box(svg).height]),
    drawn: [...document.querySelectorAll("svg.field rect:not(.hit), svg.field circle")].filter(seen).length,
    labels: labels.length,
    smallest: Math.min(...labels.map((text) => parseFloat(getComputedStyle(text).fontSize)), 99),
    unnamed: [...document.querySelectorAll("svg.field")].filter(
      (svg) => !svg.getAttribute("aria-labelledby").split(" ").every((id) => document.getElementById(id)?.textContent)
    ).length,
    scripts: document.querySelectorAll("script, img, iframe, object, link, [onerror], [onclick]").length,
    ids: [...document.querySelectorAll("nav a")].every((link) => document.querySelector(link.getAttribute("href"))),
  };
}

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
let checks = 0;
try {
  for (const kind of ["month", "days", "hostile", "empty"]) {
    for (const { name, ...options } of screens) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const url = pathToFileURL(path.join(pages, `${kind}.html`)).href;
      const trouble = [];
      page.on("console", (message) => trouble.push(`console: ${message.text()}`));
      page.on("pageerror", (error) => trouble.push(`error: ${error}`));
      page.on("dialog", (dialog) => trouble.push(`dialog: ${dialog.message()}`));
      page.on("request", (request) => request.url() === url || trouble.push(`request: ${request.url()}`));
      await page.goto(url, { waitUntil: "load" });
      await page.screenshot({ path: path.join(pictures, `report-${kind}-${name}.png`), fullPage: true });
      assert.deepEqual(trouble, [], `${kind} ${name}`);
      if (options.javaScriptEnabled !== false) {
        const found = await page.evaluate(measure);
        const at = (what) => `${kind} ${name}: ${what}`;
        assert.match(found.title, /^Holdpoint report/, at("title"));
        assert.ok(found.overflow <= 0, at(`the page is ${found.overflow}px too wide`));
        assert.deepEqual(found.wide, [], at("elements leave the page"));
        assert.deepEqual(found.clashes, [], at("labels cover each other"));
        assert.deepEqual(found.pale, [], at("text is too pale"));
        assert.equal(found.scripts, 0, at("scripts or fetched elements"));
        assert.equal(found.unnamed, 0, at("plots without a name"));
        assert.ok(found.ids, at("a link of the navigation leads nowhere"));
        if (kind === "empty") {
          assert.match(found.text, /Nothing is on record yet/, at("an empty ledger is said to be one"));
        } else {
          assert.equal(found.charts.length, 5, at("plots"));
          for (const [width, height] of found.charts) assert.ok(width > 200 && height > 100, at("plots have a size"));
          assert.ok(found.drawn > (kind === "days" ? 30 : 100), at("plots are drawn"));
          assert.ok(found.smallest >= 11, at("labels can be read"));
          for (const heading of ["Calls and verdicts over time", "Suggestions", "Sessions", "Chain verified"]) {
            assert.ok(found.text.includes(heading), at(heading));
          }
        }
        if (kind === "hostile") assert.ok(found.text.includes("<script>"), at("hostile text is shown as text"));
        if (kind === "month") {
          // Tab walks the page, and what it stops at can be seen.
          await page.keyboard.press("Tab");
          assert.equal(await page.evaluate(() => document.activeElement.className), "skip", at("first stop"));
          await page.locator("summary").first().focus();
          await page.keyboard.press("Enter");
          assert.ok(await page.locator("details table").first().isVisible(), at("the table opens by keyboard"));
        }
      }
      checks += 1;
      await context.close();
    }
  }
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(path.join(pages, "month.html")).href);
  const pdf = await page.pdf({ path: path.join(pictures, "report-month.pdf"), format: "A4" });
  assert.ok(pdf.length > 10_000, "it prints");
  checks += 1;
} finally {
  await browser.close();
}
console.log(`browser: ${checks} views of the report hold`);
