import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { ERAS, serverTarget } from "../../engine/opened-engine.js";
import { hasBrowser } from "../../kit/inspected-page.js";
import { actInPage, goTo, openPage, startWrongServer, timelineOf, urlTarget } from "../../page/page-session.js";
import { ALL_ROWS, chooseEntry } from "./timeline-steps.js";

const [SESSIONS, STATELESS] = ERAS;
const newer = new Server({ name: "newer", version: "1" });

describe.skipIf(!hasBrowser)("the probe of a client", () => {
  it("is no failure where an older server refuses it, and is an answer where a newer one gives it", async () => {
    const targets = [urlTarget(await startWrongServer()), serverTarget(newer)];
    const { page } = await openPage({ targets }, { viewport: ALL_ROWS });
    for (const revision of [SESSIONS, STATELESS]) {
      await page
        .getByRole("button", { name: new RegExp(`ready.*${revision}`) })
        .first()
        .waitFor();
    }
    await goTo(page, "Timeline");
    const row = (words: RegExp) => timelineOf(page).getByRole("option", { name: words });
    const refused = row(/received error server\/discover not offered: the client falls back to initialize/);
    await refused.waitFor();
    await row(/received result server\/discover/).waitFor();
    expect(await row(/not offered/).count()).toBe(1);
    const entry = await chooseEntry(page, /not offered/);
    await entry.getByText(/error, received .* not offered: the client falls back to initialize/).waitFor();
    await entry.getByRole("button", { name: "Close entry" }).click();
    await page.getByLabel("Only failures").check();
    await refused.waitFor({ state: "detached" });
    const request = { kind: "request", method: "server/discover", params: {} } as const;
    await actInPage(page, "call", { connection: "c1", request });
    await row(/received error failed server\/discover/).waitFor();
    expect(await row(/not offered/).count()).toBe(0);
  });
});
