import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { ERAS, serverTarget } from "../engine/opened-engine.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { goTo, openPage, timelineOf, whenReady } from "./page-session.js";

const server = () =>
  new Server({ name: "weather", title: "The weather", version: "1.2.3" }, { instructions: "Ask for <b>one</b> city." })
    .tool("forecast", {}, () => "sunny")
    .tool("speak", {}, (_, c) => {
      c.log("warning", "a storm");
      return "spoken";
    });

const fact = (page: Page, name: string) =>
  page
    .locator(".connect-facts > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd")
    .textContent();

describe.skipIf(!hasBrowser)("the view of a server", () => {
  for (const revision of ERAS) {
    test(`shows what the server told in ${revision}`, async () => {
      const { page, problems } = await openPage({ targets: [serverTarget(server())], revision });
      await goTo(page, "Server");
      await page.getByText(`ready · ${revision}`).first().waitFor();
      expect(await fact(page, "Name")).toBe("weather");
      expect(await fact(page, "Version")).toBe("1.2.3");
      expect(await fact(page, "Revision")).toBe(`${revision} (chosen)`);
      expect(await fact(page, "Era")).toBe(revision === "2025-11-25" ? "stateful" : "stateless");
      expect(await fact(page, "tools")).toContain("yes");
      await page.getByText("Ask for <b>one</b> city.").waitFor();
      expect(problems).toEqual([]);
    });
  }

  test("opens the connection again in another revision, and lets it be negotiated", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Server");
    await whenReady(page);
    const negotiated = await fact(page, "Revision");
    await page.getByLabel("Protocol revision").selectOption("2025-06-18");
    await expect.poll(() => fact(page, "Revision")).toBe("2025-06-18 (chosen)");
    await page.getByLabel("Protocol revision").selectOption("");
    await expect.poll(() => fact(page, "Revision")).toBe(negotiated);
  });

  test("ends a connection, and takes it from the list", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Server");
    await whenReady(page);
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "Connect to a server" }).waitFor();
    await page.getByRole("button", { name: /a server of this process.*Connect/ }).click();
    await whenReady(page);
  });

  test("sets roots, and says what is wrong with one that is none", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())], revision: "2025-11-25" });
    await goTo(page, "Server");
    await whenReady(page);
    await page.getByRole("button", { name: "Add root" }).click();
    await page.getByLabel("URI of root 1").fill("https://example.com/");
    await page.getByRole("button", { name: "Save roots" }).click();
    await page.getByRole("note", { name: "Problem" }).waitFor();
    await page.getByLabel("URI of root 1").fill("file:///tmp/project");
    await page.getByLabel("Name of root 1").fill("project");
    await page.getByRole("button", { name: "Save roots" }).click();
    // A reload before the answer would take the request back.
    await page.getByText("Roots saved").waitFor({ state: "attached" });
    await page.getByRole("note", { name: "Problem" }).waitFor({ state: "detached" });
    await page.reload();
    await expect.poll(() => page.getByLabel("URI of root 1").inputValue()).toBe("file:///tmp/project");
    await goTo(page, "Timeline");
    await timelineOf(page)
      .getByRole("option", { name: /notifications\/roots\/list_changed/ })
      .waitFor();
  });

  test("sets from which severity on the server logs", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())], revision: "2025-11-25" });
    await goTo(page, "Server");
    await whenReady(page);
    await page.getByLabel("Minimum log level").selectOption("error");
    await goTo(page, "Timeline");
    await timelineOf(page)
      .getByRole("option", { name: /sent.*logging\/setLevel/ })
      .waitFor();
    await goTo(page, "Server");
    await expect.poll(() => page.getByLabel("Minimum log level").inputValue()).toBe("error");
  });
});

describe.skipIf(!hasBrowser)("the form for an address", () => {
  test("connects with headers, in the revision that was chosen", async () => {
    const http = await serveHttp(server(), { port: 0 });
    onTestFinished(() => http.close());
    const { page } = await openPage({});
    await page.getByLabel("URL").fill(http.url);
    await page.getByLabel("Revision").selectOption("2025-06-18");
    await page.getByLabel("Headers, one per line").fill("X-Key: 42");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("ready · 2025-06-18").first().waitFor();
    await goTo(page, "Timeline");
    await timelineOf(page)
      .getByRole("option", { name: /sent.*initialize/ })
      .first()
      .click();
    await page.getByRole("tab", { name: "Headers" }).click();
    await page.getByRole("rowheader", { name: "x-key" }).waitFor();
  });

  test("shows why an address cannot be connected to, and what to do", async () => {
    const { page } = await openPage({});
    await page.getByLabel("URL").fill("http://127.0.0.1:1/mcp");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await goTo(page, "Server");
    await page.getByRole("note", { name: "Problem" }).getByText("Fix:").waitFor();
  });
});
