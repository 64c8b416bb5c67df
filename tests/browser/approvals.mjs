// Drives the page of the approval daemon in a real browser: a real daemon, real hook processes, and
// people who answer. Arguments: the driver, the browser, the program, a directory to work in, a
// directory for pictures, axe's script. HOLDPOINT_APPROVALS_ONLY=WORDS runs only what has these words in its name.
import assert from "node:assert/strict";
import { spawn, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [driver, executablePath, program, work, pictures, axe] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(path.join(driver, "index.mjs")))).default;

const WIDE = { width: 1280, height: 900 };
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const MANY = 500;

// What asks a person, on which terms.
const POLICY = {
  defaultPolicy: "ask",
  channel: { type: "daemon" },
  approval: { deadline: 300, presence: "none" },
  tools: {
    mcp__shop__refund: { supervision: "manual", risk: "critical", reason: "A refund cannot be taken back" },
    mcp__shop__erase: { supervision: "confirm", risk: "critical", reason: "It erases the shop" },
    mcp__shop__quote: { supervision: "confirm", risk: "low", approval: { deadline: 4 } },
    // Time enough to be given more on a busy machine, and so little that the countdown tells which it was.
    mcp__shop__order: { supervision: "confirm", risk: "low", approval: { deadline: 60 } },
    mcp__shop__close: { supervision: "confirm", risk: "high", reason: "Closing the shop needs two people", approval: { required: 2 } },
  },
};

// ---- a daemon and its hooks

class Home {
  constructor(name, policy) {
    this.path = path.join(work, name);
    this.project = path.join(this.path, "shop");
    fs.mkdirSync(path.join(this.path, ".config/holdpoint"), { recursive: true });
    fs.mkdirSync(path.join(this.project, "src"), { recursive: true });
    fs.writeFileSync(path.join(this.path, ".config/holdpoint/permissions.json"), JSON.stringify(policy));
    // Nothing of this process's surroundings: it may itself run below an agent.
    this.env = { HOME: this.path, PATH: process.env.PATH, CLAUDE_PROJECT_DIR: this.project };
    this.hooks = new Set();
  }

  async start() {
    const { CLAUDE_PROJECT_DIR, ...env } = this.env;
    this.daemon = spawn(program, ["serve", "--listen", this.url ? `127.0.0.1:${new URL(this.url).port}` : "127.0.0.1:0"], { env, cwd: this.path, stdio: ["ignore", "pipe", "inherit"] });
    this.url = await new Promise((resolve, reject) => {
      let text = "";
      this.daemon.stdout.on("data", (data) => {
        text += data;
        const found = /http:\/\/(?:localhost|[\d.]+):\d+\//.exec(text);
        if (found) resolve(found[0]);
      });
      this.daemon.once("exit", (code) => reject(new Error(`the daemon ended with ${code}: ${text}`)));
    });
  }

  async stop(signal = "SIGTERM") {
    const ended = new Promise((resolve) => this.daemon.once("exit", resolve));
    this.daemon.kill(signal);
    await ended;
  }

  run(...args) {
    const { CLAUDE_PROJECT_DIR, ...env } = this.env;
    return execFileSync(program, args, { env, cwd: this.path, encoding: "utf8" });
  }

  // The address that signs in, once.
  open() {
    return /http\S+#code=\S+/.exec(this.run("open", "--print"))[0];
  }

  // A hook of its own process; `reply` is what it tells the agent.
  hook(tool_name, tool_input, more = {}) {
    const payload = { session_id: "session-1", hook_event_name: "PreToolUse", cwd: this.project, tool_name, tool_input, ...more };
    const child = spawn(program, ["hook", "claude-code"], { env: this.env, cwd: this.project, stdio: ["pipe", "pipe", "pipe"] });
    this.hooks.add(child);
    let [out, error] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (error += data));
    const reply = new Promise((resolve) => {
      child.once("close", (code) => {
        this.hooks.delete(child);
        resolve({ code, error, ...(out ? JSON.parse(out).hookSpecificOutput : {}) });
      });
    });
    child.stdin.end(JSON.stringify(payload));
    return { reply, child };
  }

  bash(command, more) {
    return this.hook("Bash", { command }, more);
  }

  // The same with what the agent says about it.
  described(command, description, more) {
    return this.hook("Bash", { command, description }, more);
  }
}

// ---- a person at a browser

const troubles = [];

async function person(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = await context.newPage();
  // An answer that has no effect and a session that has ended are told by their status; the
  // browser notes them, and nothing else may be noted.
  const expected = /Failed to load resource: the server responded with a status of (401|409)|net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|CONNECTION_RESET|SOCKET_NOT_CONNECTED)/;
  page.on("console", (message) => expected.test(message.text()) || troubles.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => troubles.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => new URL(request.url()).origin === new URL(url).origin || request.url().startsWith("data:") || troubles.push(`request: ${request.url()}`));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => console.error(`csp: ${event.violatedDirective} ${event.blockedURI}`)));
  await page.goto(url);
  return page;
}

const live = (page) => page.locator("#status .line.live").waitFor();
const card = (page, text) => page.locator(".card:not(.ended)", { hasText: text });
const press = async (page, text, act) => {
  const one = card(page, text).locator(`[data-act="${act}"]`);
  await one.waitFor({ state: "attached" });
  if (!(await one.isVisible())) await card(page, text).locator(".rest summary").click();
  // The page takes no answer while the list still moves, and what has ended leaves it after a while.
  await page.waitForFunction(() => !document.querySelector(".card.ended"));
  await page.waitForTimeout(600);
  await one.click();
};
// Releases a call; where its risk is high, the second step, too.
const release = async (page, text) => {
  const asks = await card(page, text).evaluate((one) => /\brisk-(high|critical)\b/.test(one.className));
  await press(page, text, "release");
  if (asks) await page.locator("dialog [data-go]").click();
};
// A key that answers stands alone: nothing is typed within a second before and after it.
const alone = async (page, key) => {
  await page.waitForTimeout(1100);
  await page.keyboard.press(key);
};
const gone = (page, text) => card(page, text).waitFor({ state: "detached" });
const picture = async (page, name) => {
  await page.evaluate(() => document.querySelectorAll(".toast button").forEach((close) => close.click()));
  await page.mouse.move(0, 0);
  await page.screenshot({ path: path.join(pictures, `approvals-${name}.png`) });
};

let checks = 0;
const only = process.env.HOLDPOINT_APPROVALS_ONLY;
async function check(name, act) {
  if (only && !name.includes(only)) return;
  const before = Date.now();
  await act();
  assert.deepEqual(troubles, [], name);
  checks += 1;
  console.log(`approvals: ${name} (${Date.now() - before} ms)`);
}

// Text that is too pale for its ground, things that leave the page, and targets too small to touch.
function measure() {
  const root = document.documentElement;
  const box = (element) => element.getBoundingClientRect();
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && box(element).width > 0;
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const mix = (layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const layer of layers) {
      canvas.fillStyle = layer;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const level = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
    return layers;
  };
  const faded = (element) => element.closest(":disabled, .ended, .offline, kbd, [aria-busy=true], .clamped");
  const texts = [...document.querySelectorAll("body *")].filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const pale = texts.filter((element) => seen(element) && !faded(element)).filter((element) => {
    const style = getComputedStyle(element);
    const layers = grounds(element);
    const [ink, paper] = [level(mix([...layers, style.color])), level(mix(layers))];
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5;
  }).map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`);
  const wide = [...document.querySelectorAll("body *")].filter((element) => seen(element) && !element.closest("nav, .unseen, .skip, svg"))
    .filter((element) => box(element).right > root.clientWidth + 1 || box(element).left < -1).map((element) => `${element.tagName}.${element.className}`);
  const small = [...document.querySelectorAll(".answers button, .card .details, nav a, .status button, .close")].filter(seen)
    .filter((element) => box(element).height < 38 || box(element).width < 38).map((element) => `${element.className} ${element.textContent} ${box(element).width}x${box(element).height}`);
  const unnamed = [...document.querySelectorAll("button, input, select, textarea, a, iframe")].filter(seen)
    .filter((element) => !(element.textContent.trim() || element.getAttribute("aria-label") || element.labels?.length || element.title)).map((element) => element.outerHTML.slice(0, 80));
  return { pale, wide, small, unnamed, overflow: root.scrollWidth - root.clientWidth };
}

async function sound(page, where, { touch = false } = {}) {
  const found = await page.evaluate(measure);
  assert.deepEqual(found.pale, [], `${where}: text is too pale`);
  assert.deepEqual(found.wide, [], `${where}: elements leave the page`);
  assert.deepEqual(found.unnamed, [], `${where}: controls without a name`);
  assert.ok(found.overflow <= 0, `${where}: the page is ${found.overflow}px too wide`);
  if (touch) assert.deepEqual(found.small, [], `${where}: too small to touch`);
}

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const home = new Home("ann", POLICY);
const crowd = new Home("crowd", { ...POLICY, approval: { deadline: 0, wait: 1, presence: "none" } });
const source = path.join(home.project, "src/total.rs");
fs.writeFileSync(source, `use crate::money::Money;

/// The total of a cart, with its discounts.
pub fn total(cart: &Cart) -> Money {
    let mut sum = Money::zero();
    for line in &cart.lines {
        sum += line.price * line.quantity;
    }
    for coupon in &cart.coupons {
        sum -= coupon.value(sum);
    }
    sum
}
`);
const CHANGE = {
  file_path: source,
  old_string: "        sum -= coupon.value(sum);\n",
  new_string: "        // Never below nothing: a coupon is no refund.\n        sum = sum.saturating_sub(coupon.value(sum));\n",
};

try {
  await home.start();
  const token = /hpt_\S+/.exec(home.run("people", "add", "bob"))[0];
  const address = home.open();
  const code = new URL(address).hash.slice("#code=".length);
  const ann = await person(browser, address);
  await live(ann);
  const bob = await person(browser, home.url);
  await bob.fill("input[name=name]", "bob");
  await bob.fill("input[name=token]", token);
  await bob.click("button[type=submit]");
  await live(bob);

  await check("a code signs in once and leaves the address", async () => {
    assert.equal(ann.url(), home.url);
    const again = await person(browser, address);
    await again.getByText("used already or is too old").waitFor();
    assert.equal(again.url(), home.url);
    assert.equal(await again.locator(".card").count(), 0);
    await sound(again, "sign in");
    await again.context().close();
    await ann.getByText("Nothing waits").waitFor();
  });

  await check("a request appears and is released", async () => {
    const hook = home.bash("git push --force origin topic", { agent_type: "releaser" });
    const started = Date.now();
    await card(ann, "git push --force origin topic").waitFor();
    console.log(`approvals: on the page ${Date.now() - started} ms after the hook was started`);
    assert.match(await ann.title(), /^\(1\) Holdpoint$/);
    assert.match(await card(ann, "git push").locator("mark").first().textContent(), /force|push/);
    await release(ann, "git push --force");
    const reply = await hook.reply;
    assert.equal(reply.permissionDecision, "allow", JSON.stringify(reply));
    await bob.locator(".card.ended", { hasText: "released it" }).waitFor();
    await gone(ann, "git push");
  });

  await check("a refusal's comment reaches the model", async () => {
    const hook = home.bash("npm publish");
    await press(ann, "npm publish", "comment");
    await ann.locator("dialog textarea").fill("Ask the release team first, please");
    await ann.locator("dialog button[type=submit]").click();
    const reply = await hook.reply;
    assert.equal(reply.permissionDecision, "deny");
    assert.match(reply.permissionDecisionReason, /Ask the release team first, please/);
    await gone(ann, "npm publish");
  });

  await check("what is edited is judged again, and runs as it was changed", async () => {
    const hook = home.bash("npm version minor");
    await press(ann, "npm version minor", "edit");
    await ann.locator("dialog textarea").fill("npm version patch");
    await ann.locator("dialog .changes .added", { hasText: "npm version patch" }).waitFor();
    await ann.locator("dialog button[type=submit]").click();
    await card(bob, "npm version patch").getByText("Changed by").waitFor();
    await release(ann, "npm version patch");
    const reply = await hook.reply;
    assert.equal(reply.permissionDecision, "allow");
    assert.equal(reply.updatedInput.command, "npm version patch");
    await gone(ann, "npm version patch");
  });

  await check("an edit that a rule denies is refused for good", async () => {
    const hook = home.bash("ls build");
    await press(ann, "ls build", "edit");
    await ann.locator("dialog textarea").fill("rm -rf /");
    await ann.locator("dialog button[type=submit]").click();
    const reply = await hook.reply;
    assert.equal(reply.permissionDecision, "deny");
    await gone(ann, "ls build");
  });

  await check("a review wants its phrase typed", async () => {
    const hook = home.hook("mcp__shop__refund", { order: "77-1023", amount: { value: 149.9, currency: "EUR" } });
    await press(ann, "mcp__shop__refund", "release");
    const go = ann.locator("dialog button[type=submit]");
    const phrase = await ann.locator("dialog .phrase").textContent();
    await ann.locator("dialog input").fill("yes");
    assert.ok(await go.isDisabled());
    await ann.locator("dialog input").fill(phrase);
    await go.click();
    assert.equal((await hook.reply).permissionDecision, "allow");
    await gone(ann, "mcp__shop__refund");
  });

  await check("two people must say yes, and no one twice", async () => {
    const hook = home.hook("mcp__shop__close", { why: "stocktaking" });
    await release(ann, "mcp__shop__close");
    await card(bob, "mcp__shop__close").getByText("1 of 2").waitFor();
    await release(ann, "mcp__shop__close");
    await ann.locator(".toast", { hasText: "said yes already" }).waitFor();
    await release(bob, "mcp__shop__close");
    assert.equal((await hook.reply).permissionDecision, "allow");
    await gone(bob, "mcp__shop__close");
  });

  await check("the rule is shown before it is stored, and holds", async () => {
    const hook = home.bash("cargo tree --depth 1", { session_id: "session-rules" });
    await press(ann, "cargo tree", "rule");
    const offer = ann.locator("dialog .offer").first();
    assert.match(await offer.textContent(), /cargo tree --depth 1/);
    await offer.locator("input").check();
    await ann.locator("dialog button[value=always]").click();
    assert.equal((await hook.reply).permissionDecision, "allow");
    const next = await home.bash("cargo tree --depth 1", { session_id: "session-rules" }).reply;
    assert.equal(next.permissionDecision, "allow");
    await ann.goto(`${home.url}#sessions`);
    await ann.locator(".session", { hasText: "session-rules" }).getByText("cargo tree --depth 1").first().waitFor();
    await ann.goto(`${home.url}#pending`);
  });

  await check("asking stops for a session, and somebody may stand in", async () => {
    const hook = home.bash("make assets", { session_id: "session-quiet" });
    await press(ann, "make assets", "suspend");
    await ann.locator("dialog", { hasText: "What is denied stays denied" }).waitFor();
    await ann.locator("dialog input[value=all]").check();
    await ann.locator("dialog [data-go]:enabled").click();
    assert.equal((await hook.reply).permissionDecision, "allow");
    assert.equal((await home.bash("make icons", { session_id: "session-quiet" }).reply).permissionDecision, "allow");
    assert.equal((await home.bash("rm -rf /", { session_id: "session-quiet" }).reply).permissionDecision, "deny");
    await ann.locator(".person summary").click();
    await ann.getByText("Let somebody answer for you").click();
    await ann.locator("dialog").getByText("Allow", { exact: true }).click();
    await ann.locator("dialog .given", { hasText: "bob for another 1 h" }).waitFor();
    await sound(ann, "delegation");
    await ann.locator("dialog .given button").click();
    await ann.locator("dialog .given").waitFor({ state: "detached" });
    await ann.keyboard.press("Escape");
    await ann.locator("dialog").waitFor({ state: "detached" });
  });

  await check("many are answered together, without those that want a phrase", async () => {
    const hooks = [1, 2, 3].map((number) => home.bash(`make check-${number}`));
    const apart = home.hook("mcp__shop__refund", { order: "batch" });
    await ann.waitForFunction(() => document.querySelectorAll(".card:not(.ended)").length === 4);
    await ann.locator(".choose.all input").check();
    await ann.locator(".batch-bar [data-act=release]").click();
    await ann.locator("dialog", { hasText: "1 request left out" }).waitFor();
    await ann.locator("dialog [data-go]").click();
    for (const { reply } of hooks) assert.equal((await reply).permissionDecision, "allow");
    await press(ann, "mcp__shop__refund", "refuse");
    assert.equal((await apart.reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("nobody answers: it expires, and more time can be given", async () => {
    const hook = home.hook("mcp__shop__quote", { item: "chair" });
    await ann.locator(".card.ended", { hasText: "expired" }).waitFor({ timeout: 15_000 });
    const reply = await hook.reply;
    assert.equal(reply.permissionDecision, "deny");
    const longer = home.hook("mcp__shop__order", { item: "table" });
    await press(ann, "table", "extend");
    await card(ann, "table").locator(".countdown", { hasText: /^[45]:/ }).waitFor();
    await press(ann, "table", "refuse");
    assert.equal((await longer.reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("two browsers race: one wins, the other is told", async () => {
    for (let round = 0; round < 3; round += 1) {
      const hook = home.bash(`make deploy STAGE=${round}`);
      for (const page of [ann, bob]) await card(page, `make deploy STAGE=${round}`).waitFor();
      await ann.waitForTimeout(600);
      const click = (page, act) => page.evaluate(([text, name]) => {
        const found = [...document.querySelectorAll(".card")].find((one) => one.textContent.includes(text));
        found.querySelector(`[data-act="${name}"]`)?.click();
      }, [`make deploy STAGE=${round}`, act]);
      await click(ann, "release");
      // The release leaves its page after the moment in which it can be taken back.
      await bob.waitForTimeout([0, 1480, 1700][round]);
      await click(bob, "refuse");
      const { permissionDecision } = await hook.reply;
      const loser = permissionDecision === "allow" ? bob : ann;
      await loser.locator(".toast, .ending", { hasText: /released it|refused it/ }).first().waitFor();
      for (const page of [ann, bob]) await gone(page, `make deploy STAGE=${round}`);
    }
  });

  await check("a dialog says that somebody was faster", async () => {
    const hook = home.bash("docker compose restart web");
    await press(bob, "docker compose restart web", "comment");
    await bob.locator("dialog textarea").fill("no");
    await release(ann, "docker compose restart web");
    await bob.locator("dialog", { hasText: "Nothing is left to answer" }).waitFor();
    assert.ok(await bob.locator("dialog button[type=submit]").isDisabled());
    await bob.keyboard.press("Escape");
    assert.equal((await hook.reply).permissionDecision, "allow");
    await gone(ann, "docker compose restart web");
  });

  await check("the keyboard is enough", async () => {
    const hooks = [1, 2, 3].map((number) => home.bash(`git tag v1.2.${number}`));
    await ann.waitForFunction(() => document.querySelectorAll(".card:not(.ended)").length === 3);
    await ann.locator("#main").focus();
    await ann.waitForTimeout(600);
    const command = () => ann.evaluate(() => document.activeElement.closest(".card")?.querySelector("pre")?.textContent);
    await ann.keyboard.press("j");
    const first = await command();
    await ann.keyboard.press("j");
    assert.notEqual(await command(), first);
    await ann.keyboard.press("k");
    assert.equal(await command(), first);
    await ann.keyboard.press("Enter");
    await ann.locator(".detail", { hasText: "Bound to" }).waitFor();
    await ann.keyboard.press("Escape");
    assert.ok(await ann.locator(".detail").isHidden());
    await alone(ann, "y");
    // The next card is there by itself: an answer at once is not one.
    await ann.waitForFunction((text) => ![...document.querySelectorAll(".card:not(.ended)")].some((one) => one.textContent.includes(text)), first);
    await ann.keyboard.press("y");
    await ann.locator(".toast", { hasText: "The list moved" }).waitFor();
    const second = await command();
    await alone(ann, "n");
    await ann.waitForFunction((text) => ![...document.querySelectorAll(".card:not(.ended)")].some((one) => one.textContent.includes(text)), second);
    const third = await command();
    assert.ok(new Set([first, second, third]).size === 3, "each is answered once");
    await alone(ann, "c");
    await ann.keyboard.type("by keys");
    await ann.keyboard.press("Control+Enter");
    const said = Object.fromEntries(await Promise.all(hooks.map(async ({ reply }, index) => [`git tag v1.2.${index + 1}`, await reply])));
    assert.equal(said[first].permissionDecision, "allow");
    assert.equal(said[second].permissionDecision, "deny");
    assert.match(said[third].permissionDecisionReason, /by keys/);
    await ann.waitForFunction(() => !document.querySelector("dialog"));
    await ann.keyboard.press("?");
    await ann.locator("dialog", { hasText: "refuse with a comment" }).waitFor();
    await ann.keyboard.press("Escape");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("nothing is released by accident, at human speed", async () => {
    const open = [
      home.bash("git push --force origin topic", { session_id: "slips" }),
      home.bash("make slip", { session_id: "slips" }),
      home.hook("mcp__shop__erase", { shop: "all" }, { session_id: "slips" }),
    ];
    let answered = 0;
    open.forEach(({ reply }) => reply.then(() => (answered += 1)));
    await ann.waitForFunction(() => document.querySelectorAll(".card:not(.ended)").length === 3);
    const nothing = async (what) => {
      await ann.waitForTimeout(1700);
      assert.equal(answered, 0, what);
      assert.equal(await ann.locator(".card:not(.ended)").count(), 3, what);
      // Whatever was opened is left, as a person would.
      for (let round = 0; round < 3; round += 1) await ann.keyboard.press("Escape");
      await ann.waitForTimeout(1100);
    };
    // Each script on a call of another risk, quick and slow.
    const calls = ["mcp__shop__erase", "make slip", "git push"];
    const scripts = [[..."why not? yes"], [..."yes, I see"], ["s", "Enter", "Enter"], ["a", "Enter", "Enter"], ["y", "Enter"], ["X", "y", "Enter", " "], ["y", "y"], ["n", "o"]];
    for (const [number, keys] of scripts.entries()) {
      for (const [turn, pause] of [90, 350].entries()) {
        const text = calls[(number + turn) % calls.length];
        await card(ann, text).focus();
        await ann.waitForTimeout(1100);
        for (const key of keys) {
          await ann.keyboard.press(key);
          await ann.waitForTimeout(pause);
        }
        await nothing(`${keys}, ${pause} ms a key, ${text}`);
      }
    }
    // Space and Enter press what has the focus: typed in a row, they press nothing.
    await card(ann, "make slip").locator("[data-act=release]").focus();
    await ann.waitForTimeout(1100);
    await ann.keyboard.type("is this ok \n", { delay: 150 });
    await nothing("typing on the button that releases");
    // The list moves, the click on Comment still opens its dialog, and what is typed arrives there.
    await card(ann, "make slip").waitFor();
    const late = home.bash("make late", { session_id: "slips" });
    await card(ann, "make late").waitFor();
    await ann.evaluate(() => [...document.querySelectorAll(".card")].find((one) => one.textContent.includes("make late")).querySelector("[data-act=comment]").click());
    await ann.keyboard.type("why not", { delay: 120 });
    assert.equal(await ann.locator("dialog textarea").inputValue(), "why not");
    await ann.keyboard.press("Escape");
    await press(ann, "make late", "refuse");
    assert.equal((await late.reply).permissionDecision, "deny");
    await gone(ann, "make late");
    // A release is taken back, and nothing runs; then it is given.
    await ann.waitForFunction(() => document.querySelectorAll(".card").length === 3);
    await press(ann, "make slip", "release");
    await ann.locator(".toast .undo").click();
    await nothing("a release that was taken back");
    // High and critical want a second step.
    await press(ann, "mcp__shop__erase", "release");
    await ann.locator("dialog", { hasText: "critical risk?" }).waitFor();
    assert.equal(await ann.evaluate(() => document.activeElement.textContent), "Cancel");
    await picture(ann, "second-step");
    await sound(ann, "second step");
    await ann.keyboard.press("Enter");
    await ann.locator("dialog").waitFor({ state: "detached" });
    await nothing("Enter in the second step");
    await release(ann, "make slip");
    assert.equal((await open[1].reply).permissionDecision, "allow");
    await ann.waitForFunction(() => document.querySelectorAll(".card").length === 2);
    await release(ann, "git push");
    assert.equal((await open[0].reply).permissionDecision, "allow");
    await ann.waitForFunction(() => document.querySelectorAll(".card").length === 1);
    await press(ann, "mcp__shop__erase", "refuse");
    assert.equal((await open[2].reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("what goes along is said first, and critical calls never do", async () => {
    const more = { session_id: "along" };
    const open = [home.bash("make first", more), home.bash("make second", more), home.hook("mcp__shop__erase", { shop: "all" }, more)];
    await ann.waitForFunction(() => document.querySelectorAll(".card:not(.ended)").length === 3);
    await press(ann, "make first", "suspend");
    const dialog = ann.locator("dialog");
    await dialog.getByText("1 other call that waits is released with it").waitFor();
    await dialog.getByText("1 call of critical risk waits on").waitFor();
    assert.match(await dialog.locator(".batch").first().textContent(), /make second/);
    await picture(ann, "along");
    await sound(ann, "what goes along");
    await dialog.locator("input[value=all]").check();
    await dialog.locator("[data-go]:enabled").click();
    assert.equal((await open[0].reply).permissionDecision, "allow");
    assert.equal((await open[1].reply).permissionDecision, "allow");
    await ann.waitForFunction(() => document.querySelectorAll(".card").length === 1);
    assert.equal(await card(ann, "mcp__shop__erase").count(), 1);
    await press(ann, "mcp__shop__erase", "refuse");
    assert.equal((await open[2].reply).permissionDecision, "deny");
    // What is critical is asked about all the same.
    const again = home.hook("mcp__shop__erase", { shop: "other" }, more);
    await press(ann, "mcp__shop__erase", "refuse");
    assert.equal((await again.reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
    // On the page of sessions it is taken back.
    await ann.goto(`${home.url}#sessions`);
    const quiet = ann.locator(".session", { hasText: "along" });
    await quiet.locator("[data-act=resume]").click();
    await ann.locator(".toast", { hasText: "asked again" }).waitFor();
    await quiet.locator("[data-act=resume]").waitFor({ state: "detached" });
    const ruled = ann.locator(".session", { hasText: "session-rules" });
    await ruled.locator("li", { hasText: "cargo tree --depth 1" }).first().locator("[data-act=forget]").click();
    await ann.locator(".toast", { hasText: "taken back" }).waitFor();
    await ann.goto(`${home.url}#pending`);
    const asked = [home.bash("make third", more), home.bash("cargo tree --depth 1", { session_id: "session-rules" })];
    for (const text of ["make third", "cargo tree"]) await press(ann, text, "refuse");
    for (const { reply } of asked) assert.equal((await reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("an edit is shown as a diff, and hostile text as text", async () => {
    const edit = home.hook("Edit", CHANGE);
    await card(ann, "total.rs").locator("tr.added").first().waitFor();
    assert.match(await card(ann, "total.rs").locator("tr.removed").first().textContent(), /coupon/);
    const hidden = `echo ${String.fromCodePoint(0x202e)}txt.sh <img src=x onerror=alert(1)>`;
    const hostile = home.bash(hidden, { session_id: "<b>bold</b>" });
    await card(ann, "onerror=alert").waitFor();
    assert.equal(await card(ann, "onerror=alert").locator("img, b.bold, script").count(), 0);
    assert.equal(await card(ann, "onerror=alert").locator(".unseen-character", { hasText: "RLO" }).count() > 0, true);
    await card(ann, "total.rs").locator("[data-act=details]").click();
    await ann.locator(".detail", { hasText: "Arguments in full" }).waitFor();
    await picture(ann, "detail");
    await sound(ann, "details");
    await ann.keyboard.press("Escape");
    await press(ann, "onerror=alert", "refuse");
    await release(ann, "total.rs");
    assert.equal((await edit.reply).permissionDecision, "allow");
    assert.equal((await hostile.reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("nothing secret is on the page", async () => {
    const secret = ["gh", "p_", "x7Kq2mVb9Zt4Rw1Yc8Np5Ld3Hs6Jf0Ga2Qe"].join("");
    const hook = home.bash(`curl -H 'Authorization: Bearer ${secret}' https://example.test/upload`);
    await card(ann, "example.test").waitFor();
    await card(ann, "example.test").locator("[data-act=details]").click();
    await ann.locator(".detail", { hasText: "Bound to" }).waitFor();
    const [text, kept] = await ann.evaluate(() => [document.documentElement.outerHTML, Object.values({ ...localStorage })]);
    assert.ok(!text.includes(secret), "the secret of a call");
    assert.ok(!text.includes(code) && !text.includes(token), "what signs in");
    for (const value of kept.filter((one) => one.length > 8)) assert.ok(!text.includes(value), "the page's secret");
    await ann.keyboard.press("Escape");
    await press(ann, "example.test", "refuse");
    assert.equal((await hook.reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
  });

  await check("a reload shows what the daemon says, light and dark, wide and narrow", async () => {
    const waiting = [
      home.described("git fetch origin && git push --force origin topic", "Publish the rebased branch", { agent_type: "releaser" }),
    ];
    await card(ann, "git fetch").waitFor();
    waiting.push(home.hook("Edit", CHANGE));
    await card(ann, "total.rs").waitFor();
    waiting.push(home.hook("mcp__shop__refund", { order: "77-1023", amount: { value: 149.9, currency: "EUR" }, reason: "parcel lost" }));
    waiting.push(home.hook("Write", { file_path: path.join(home.project, "notes.md"), content: "# Notes\n\nNothing yet.\n" }));
    await ann.waitForFunction(() => document.querySelectorAll(".card .answers").length === 4);
    await ann.reload();
    await live(ann);
    await ann.waitForFunction(() => document.querySelectorAll(".card .answers").length === 4);
    assert.equal(await ann.locator(".card").count(), 4);
    await ann.waitForTimeout(300);
    await picture(ann, "pending");
    await sound(ann, "wide");
    const dark = await person(browser, home.open(), { colorScheme: "dark" });
    await dark.waitForFunction(() => document.querySelectorAll(".card .answers").length === 4);
    await picture(dark, "dark");
    await sound(dark, "dark");
    await dark.locator("#status button[aria-label^='Change between']").click();
    assert.equal(await dark.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "light");
    await sound(dark, "light by choice");
    await dark.context().close();
    const phone = await person(browser, home.open(), PHONE);
    await phone.waitForFunction(() => document.querySelectorAll(".card .answers").length === 4);
    await picture(phone, "phone");
    await sound(phone, "phone", { touch: true });
    const bar = await phone.locator(".card footer").first().boundingBox();
    assert.ok(bar.y + bar.height <= PHONE.viewport.height + 1, "the answers of a long card stay in sight");
    // Of a card whose end alone is in sight, or whose beginning is not, no answer is.
    const early = await phone.evaluate(() => [...document.querySelectorAll(".card")].filter((one) => {
      const [whole, answers] = [one.getBoundingClientRect(), one.querySelector("footer").getBoundingClientRect()];
      return answers.top < innerHeight && answers.top - whole.top < 100;
    }).length);
    assert.equal(early, 0, "answers cover what they are about");
    await phone.locator(".card", { hasText: "total.rs" }).locator("[data-act=details]").click();
    await phone.locator(".detail > footer").waitFor();
    await sound(phone, "phone details", { touch: true });
    await phone.locator(".detail [data-act=release]").click();
    await phone.getByText("Releasing").first().waitFor();
    assert.equal((await waiting[1].reply).permissionDecision, "allow");
    await phone.context().close();
    await ann.waitForTimeout(600);
    for (const text of ["git fetch", "mcp__shop__refund", "notes.md"]) await press(ann, text, "refuse");
    for (const one of [0, 2, 3]) assert.equal((await waiting[one].reply).permissionDecision, "deny");
  });

  await check("history, sessions, policy and report are there", async () => {
    await ann.goto(`${home.url}#history`);
    await ann.locator(".history tbody tr").first().waitFor();
    await ann.locator("input[placeholder^=Search]").fill("npm publish");
    await ann.locator(".history tbody tr", { hasText: "Ask the release team first, please" }).waitFor();
    await ann.waitForFunction(() => document.querySelectorAll(".history tbody tr").length === 1);
    await ann.locator("input[placeholder^=Search]").fill("");
    await ann.waitForFunction(() => document.querySelectorAll(".history tbody tr").length > 10);
    await ann.locator("#main").focus();
    await picture(ann, "history");
    await sound(ann, "history");
    await ann.goto(`${home.url}#sessions`);
    await ann.locator(".session").first().waitFor();
    await picture(ann, "sessions");
    await sound(ann, "sessions");
    await ann.goto(`${home.url}#policy`);
    await ann.getByText("People are asked by").waitFor();
    await picture(ann, "policy");
    await sound(ann, "policy");
    await ann.goto(`${home.url}#report`);
    await ann.frameLocator("iframe").getByRole("heading", { level: 1 }).waitFor();
    await ann.goto(`${home.url}#pending`);
  });

  await check("each request has an address, Back works, and the page can be installed", async () => {
    await ann.goto(`${home.url}#pending`);
    const hook = home.bash("make address");
    await card(ann, "make address").waitFor();
    const id = await card(ann, "make address").getAttribute("data-id");
    await card(ann, "make address").locator("[data-act=details]").click();
    await ann.waitForFunction((one) => location.hash === `#request/${one}`, id);
    await ann.goBack();
    await ann.locator(".detail").waitFor({ state: "hidden" });
    assert.equal(new URL(ann.url()).hash, "#pending");
    await ann.goForward();
    await ann.locator(".detail", { hasText: "make address" }).waitFor();
    await ann.keyboard.press("Escape");
    await ann.waitForFunction(() => location.hash === "#pending");
    const linked = await ann.context().newPage();
    await linked.goto(`${home.url}#request/${id}`);
    await linked.locator(".detail", { hasText: "make address" }).waitFor();
    // A link that is none leads to the list.
    await linked.goto(`${home.url}#request/%`);
    await card(linked, "make address").waitFor();
    assert.equal(await linked.locator(".detail:visible").count(), 0);
    await linked.close();
    // One loud button a card; the others are quiet or behind More.
    assert.equal(await card(ann, "make address").locator("footer button.release:visible").count(), 1);
    assert.equal(await card(ann, "make address").locator(".rest button:visible").count(), 0);
    await press(ann, "make address", "refuse");
    assert.equal((await hook.reply).permissionDecision, "deny");
    await ann.waitForFunction(() => !document.querySelector(".card"));
    const manifest = await ann.evaluate(async () => (await fetch(document.querySelector("link[rel=manifest]").href)).json());
    assert.equal(manifest.display, "standalone");
    for (const { src } of manifest.icons) assert.equal(await ann.evaluate(async (one) => (await fetch(one)).status, src), 200);
    assert.equal(await ann.evaluate(async () => new URL((await navigator.serviceWorker.ready).scope).pathname), "/");
    await ann.goto(`${home.url}#history`);
    await ann.locator("select[aria-label='How it ended']").selectOption("released");
    await ann.waitForFunction(() => document.querySelector(".history tbody tr") && !document.querySelector(".history tbody tr:not(.state-released)"));
    await ann.locator("input[aria-label=Rule]").fill("no.such.rule");
    await ann.getByText("Nothing fits the search").waitFor();
    await ann.locator("input[aria-label=Rule]").fill("");
    await ann.locator("select[aria-label='How it ended']").selectOption("");
    await ann.goto(`${home.url}#pending`);
  });

  await check("axe finds nothing wrong with any view, in light and dark", async () => {
    const own = new Home("axe", POLICY);
    await own.start();
    const script = fs.readFileSync(axe, "utf8");
    const page = await person(browser, own.open());
    const found = [];
    const look = async (where) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.evaluate(script);
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        for (const { id, nodes } of violations) {
          for (const node of nodes) found.push(`${where}, ${colorScheme}: ${id}: ${node.html.slice(0, 160)}: ${node.failureSummary.replaceAll("\n", " ").slice(0, 240)}`);
        }
      }
    };
    try {
      await live(page);
      await look("nothing waits");
      const hooks = [own.bash("make paint"), own.bash("git push --force origin branch-1"), own.hook("mcp__shop__refund", { order: 7 })];
      await card(page, "git push --force").waitFor();
      await card(page, "refund").waitFor();
      await look("pending");
      await card(page, "git push --force").locator("[data-act=details]").click();
      await page.locator(".detail", { hasText: "git push --force" }).waitFor();
      await look("details");
      await page.keyboard.press("Escape");
      await press(page, "git push --force", "release");
      await page.locator("dialog [data-go]").waitFor();
      await look("a dialog");
      await page.keyboard.press("Escape");
      await press(page, "make paint", "refuse");
      await hooks[0].reply;
      for (const tab of ["history", "sessions", "policy", "people"]) {
        if (!(await page.locator(`nav a[href="#${tab}"]`).count())) continue;
        await page.goto(`${own.url}#${tab}`);
        await page.waitForTimeout(400);
        await look(tab);
      }
      assert.deepEqual(found, []);
    } finally {
      await page.context().close();
      // What is still asked would wait for the next daemon, and keep this from ending.
      for (const child of own.hooks) child.kill();
      await own.stop();
    }
  });

  await check("a daemon that stops is told, and what waits outlives it", async () => {
    const hook = home.bash("npm run migrate");
    await card(ann, "npm run migrate").waitFor();
    await home.stop("SIGKILL");
    await ann.locator("#status", { hasText: "Reconnecting" }).waitFor();
    await home.start();
    // Who was signed in still is.
    await live(ann);
    await card(ann, "npm run migrate").waitFor();
    const back = await person(browser, home.open());
    await card(back, "npm run migrate").waitFor();
    await release(back, "npm run migrate");
    await hook.reply;
    await back.context().close();
  });

  await check(`${MANY} requests wait and the page stays quick`, async () => {
    await crowd.start();
    const page = await person(browser, crowd.open());
    await live(page);
    let next = 0;
    const worker = async () => {
      while (next < MANY) {
        const number = next++;
        await crowd.bash(`git push --force origin branch-${number} && echo ${"long ".repeat(number % 40)}`, { session_id: `session-${number % 9}` }).reply;
      }
    };
    await Promise.all(Array.from({ length: 12 }, worker));
    await page.waitForFunction((many) => document.title === `(${many}) Holdpoint`, MANY, { timeout: 60_000 });
    await page.addInitScript(() => {
      const Source = window.EventSource;
      window.EventSource = class extends Source {
        constructor(...args) {
          super(...args);
          this.addEventListener("snapshot", () => {
            const heard = performance.now();
            requestAnimationFrame(() => setTimeout(() => {
              window.rendered = performance.now() - heard;
            }));
          });
        }
      };
    });
    const times = [];
    for (let round = 0; round < 3; round += 1) {
      await page.reload();
      await page.waitForFunction(() => window.rendered);
      times.push(Math.round(await page.evaluate(() => window.rendered)));
    }
    console.log(`approvals: ${MANY} requests on the screen ${times.join(", ")} ms after they were heard of`);
    const [, middle] = times.sort((one, other) => one - other);
    assert.ok(middle < 500, `${middle} ms`);
    assert.equal(await page.locator(".card").count(), MANY);
    await page.keyboard.press("/");
    await page.keyboard.type("branch-77 ");
    await page.waitForFunction(() => document.querySelectorAll(".card").length === 1);
    await page.keyboard.press("Escape");
    await page.waitForFunction((many) => document.querySelectorAll(".card").length === many, MANY);
    await page.waitForTimeout(600);
    await page.locator(".choose.all input").check();
    await page.locator(".batch-bar [data-act=refuse]").click();
    await page.locator("dialog [data-go]").click();
    await page.getByText("Nothing waits").waitFor({ timeout: 60_000 });
    await page.context().close();
  });
} finally {
  await browser.close();
  for (const { hooks, daemon } of [home, crowd]) {
    for (const child of hooks) child.kill();
    daemon?.kill();
  }
}
console.log(`browser: ${checks} ways through the page of approvals hold`);
