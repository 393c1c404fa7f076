import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { serverTarget } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { actInPage, goTo, openPage, whenReady } from "../page/page-session.js";

const [OLD, RECENT] = ["2025-11-25", "2026-07-28"] as const;

describe.skipIf(!hasBrowser)("the view of both eras", () => {
  it("lays the messages of a call side by side, after it has asked", async () => {
    const { page, problems } = await openPage({ targets: [serverTarget(everything)] });
    await whenReady(page);
    await goTo(page, "Eras");
    await page.getByLabel("Tool").fill("sum");
    await page.getByLabel("Arguments (JSON)").fill('{"numbers": [1, 2]}');
    await page.getByRole("button", { name: "Call in both" }).click();
    const dialog = page.getByRole("dialog", { name: "Call twice?" });
    expect(await dialog.textContent()).toContain(`runs in ${OLD} and then in ${RECENT}`);
    await dialog.getByRole("button", { name: "Call twice" }).click();
    await page.getByText("The results are the same.").waitFor();
    const handshake = (revision: string) => page.getByRole("list", { name: `Handshake in ${revision}` }).textContent();
    expect(await handshake(OLD)).toContain("initialize");
    expect(await handshake(RECENT)).toContain("server/discover");
    const answers = page.getByRole("region", { name: "Response" }).getByRole("button", { name: "tools/call" });
    expect(await answers.count()).toBe(2);
    await answers.first().click();
    await page.getByRole("region", { name: /^result tools\/call/ }).waitFor();
    expect(await page.getByText("Every message matches the schema.").count()).toBe(2);
    expect(await barriers(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("shows which call is under way, also after a reload, and what was done when that is cancelled", async () => {
    const seen = { waiting: 0, aborted: 0 };
    const server = new Server({ name: "slow", version: "1" }).tool("wait", {}, (_args, { signal }) => {
      seen.waiting += 1;
      signal.addEventListener("abort", () => {
        seen.aborted += 1;
      });
      return new Promise<never>(() => undefined);
    });
    const { page, problems } = await openPage({ targets: [serverTarget(server)] });
    await whenReady(page);
    await goTo(page, "Eras");
    const compare = async () => {
      await page.getByLabel("Tool").fill("wait");
      await page.getByRole("button", { name: "Call in both" }).click();
      await page.getByRole("button", { name: "Call twice" }).click();
      await page.getByText(`Call 1 of 2 to slow: ${OLD}`).waitFor();
    };
    const cancel = page.getByRole("button", { name: "Cancel" });
    await compare();
    await expect.poll(() => seen.waiting).toBe(1);
    // It goes on while another view is shown.
    await goTo(page, "Timeline");
    await goTo(page, "Eras");
    await cancel.click();
    await page.getByText("The results are not compared, because the call was cancelled.").waitFor();
    expect(await page.locator(".compare-facts .parts-mark").allTextContents()).toEqual(["cancelled", "cancelled"]);
    await page
      .getByRole("list", { name: `Request in ${OLD}` })
      .getByText("tools/call")
      .first()
      .waitFor();
    expect(await page.getByRole("list", { name: `Request in ${RECENT}` }).textContent()).toBe("none");
    expect(await barriers(page)).toEqual([]);
    await expect.poll(() => seen.aborted).toBe(1);
    await compare();
    await expect.poll(() => seen.waiting).toBe(2);
    await page.reload();
    await cancel.click();
    await cancel.waitFor({ state: "detached" });
    await expect.poll(() => seen.aborted).toBe(2);
    expect(problems).toEqual([]);
  });

  it("takes a call that was made before", async () => {
    const { page } = await openPage({ targets: [serverTarget(everything)] });
    await whenReady(page);
    const { call } = await actInPage(page, "call", {
      connection: "c1",
      request: { kind: "resource", uri: "config://app" },
    });
    await goTo(page, "Eras");
    const calls = page.getByLabel("Earlier call");
    await calls.selectOption(call);
    await page.getByText('"uri":"config://app"').waitFor();
    await page.getByRole("button", { name: "Call in both" }).click();
    await page.getByRole("button", { name: "Call twice" }).click();
    await page.getByText("The results are the same.").waitFor();
    const requests = page.getByRole("region", { name: "Request" });
    expect(await requests.getByRole("button", { name: "resources/read" }).count()).toBe(2);
  });

  it("says what is wrong with what was typed, and what a revision fails with", async () => {
    const { page } = await openPage({ targets: [serverTarget(everything)] });
    await whenReady(page);
    await goTo(page, "Eras");
    const ask = () => page.getByRole("button", { name: "Call in both" }).click();
    await ask();
    await page.getByText("Enter the name of a tool, or choose an earlier call.").waitFor();
    await page.getByLabel("Tool").fill("no-such-tool");
    await page.getByLabel("Arguments (JSON)").fill("{");
    await ask();
    await page.getByText("The arguments are not valid JSON").waitFor();
    await page.getByLabel("Arguments (JSON)").fill("[]");
    await ask();
    await page.getByText("The arguments must be a JSON object.").waitFor();
    await page.getByLabel("Arguments (JSON)").fill("{}");
    await ask();
    await page.getByRole("button", { name: "Call twice" }).click();
    await expect.poll(() => page.getByText("failed", { exact: true }).count()).toBe(2);
    expect(await page.locator(".compare-problem").allTextContents()).toEqual([
      expect.stringContaining("no-such-tool"),
      expect.stringContaining("no-such-tool"),
    ]);
  });
});
