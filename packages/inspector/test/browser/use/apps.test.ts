import { resourceTemplate, Server } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as silent } from "../../../../../examples/apps/server.js";
import { bundlePage, pageWith } from "../../../../mcp/test/extensions/apps/browser-stage.js";
import { ERAS } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { goTo, timelineOf } from "../../page/page-session.js";
import { runTool, strayRequests } from "../call-steps.js";
import { targetsInBothEras, useServer } from "./use-steps.js";

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const VISITED = "https://example.com/tides";

/** A server whose tool brings an app, and the cities that the app asked it about. */
function harbour(html: string) {
  const refreshed: string[] = [];
  const page = "ui://harbour/tides";
  const tides = resourceTemplate("tides://{city}", { name: "tides" }, ({ city }) => `high in ${city}`);
  const server = new Server({ name: "harbour", version: "1" }, { extensions: [apps()] })
    .tool("show", { input: CITY, ui: { uri: page, html } }, ({ city }) => `the tides of ${city}`)
    .tool("refresh", { input: CITY, ui: { uri: page, visibility: ["app"] } }, ({ city }) => {
      refreshed.push(city);
      return `fresh from ${city}`;
    })
    .tool("secret", { ui: { uri: page, visibility: ["model"] } }, () => "for the model")
    .add(tides);
  return { server, refreshed };
}

describe.skipIf(!hasBrowser)("the app of a tool", () => {
  let opened: InspectedPage;
  let page: Page;
  let refreshed: string[];

  beforeAll(async () => {
    const html = pageWith(await bundlePage(new URL("tides-view.ts", import.meta.url).href));
    const served = harbour(html);
    refreshed = served.refreshed;
    opened = await openInspectedPage({ targets: [served.server, silent].flatMap(targetsInBothEras) });
    page = opened.page;
    // The only page that is opened outside; nothing leaves this machine.
    await page.context().route(VISITED, (route) => route.fulfill({ body: "<title>tides</title>" }));
  });
  afterAll(() => opened?.close());

  const frame = () => page.getByRole("region", { name: "App of the tool" });
  const app = () => frame().frameLocator("iframe").frameLocator("iframe");
  const dialog = (name: string) => page.getByRole("dialog", { name });
  const lines = () => frame().getByRole("region", { name: "App log" });

  /** Presses a button of the app. */
  const press = (name: string) => app().getByRole("button", { name, exact: true }).click();
  const answer = (name: string, button: string) => dialog(name).getByRole("button", { name: button }).click();

  describe.each(ERAS)("in %s", (revision) => {
    it("is shown in a sandbox of another site, and told of the call", async () => {
      await useServer(page, "harbour", revision);
      await runTool(page, "show", { city: "Bergen" });
      await app().getByText('input: {"city":"Bergen"}').waitFor();
      await app().getByText("the tides of Bergen").waitFor();
      const outer = frame().locator("iframe");
      expect(await outer.getAttribute("src")).toMatch(/^http:\/\/localhost:\d+\/sandbox/);
      expect(await outer.getAttribute("sandbox")).not.toContain("allow-top-navigation");
    });

    it("calls a tool once the user has agreed, and is refused where not", async () => {
      refreshed.length = 0;
      await press("Refresh");
      await dialog("The app wants to call refresh").getByText('"city": "Bergen"').waitFor();
      expect(refreshed).toEqual([]);
      await answer("The app wants to call refresh", "Allow once");
      await app()
        .getByText(/^Refresh: got .*fresh from Bergen/)
        .waitFor();
      expect(refreshed).toEqual(["Bergen"]);
      for (const refuse of [
        () => answer("The app wants to call refresh", "Deny"),
        () => page.keyboard.press("Escape"),
      ]) {
        await press("Refresh");
        await dialog("The app wants to call refresh").waitFor();
        await refuse();
        await dialog("The app wants to call refresh").waitFor({ state: "detached" });
      }
      await expect
        .poll(() =>
          app()
            .getByText(/^Refresh: was refused/)
            .count(),
        )
        .toBe(2);
      expect(refreshed).toEqual(["Bergen"]);
    });

    it("asks for one thing after the other", async () => {
      refreshed.length = 0;
      await press("Both");
      await dialog("The app wants to call refresh").getByText('"city": "Oslo"').waitFor();
      await answer("The app wants to call refresh", "Allow once");
      await dialog("The app wants to call refresh").getByText('"city": "Bodø"').waitFor();
      await answer("The app wants to call refresh", "Allow once");
      await app()
        .getByText(/^Both: got .*Oslo.*Bodø/)
        .waitFor();
      expect(refreshed).toEqual(["Oslo", "Bodø"]);
    });

    it("cannot call what is for models alone, and the user is told", async () => {
      await press("Secret");
      await app()
        .getByText(/^Secret: was refused/)
        .waitFor();
      await lines().getByText('no tool named "secret" is available to apps').waitFor();
      expect(await page.getByRole("dialog").count()).toBe(0);
    });

    it("reads resources, opens addresses and speaks to the conversation if the user agrees", async () => {
      await press("Read");
      await dialog("The app wants to read a resource").getByText("tides://bergen").waitFor();
      await answer("The app wants to read a resource", "Allow once");
      await app()
        .getByText(/^Read: got .*high in bergen/)
        .waitFor();
      const opening = "The app wants to open a URL in a new tab";
      await press("Open");
      await dialog(opening).getByText(VISITED).waitFor();
      await answer(opening, "Deny");
      await app()
        .getByText(/^Open: was refused/)
        .waitFor();
      await press("Open");
      const tab = page.context().waitForEvent("page");
      await answer(opening, "Allow once");
      const visited = await tab;
      await visited.waitForURL(VISITED);
      expect(await visited.evaluate("opener")).toBeNull();
      await visited.close();
      await press("Say");
      await dialog("The app wants to add a message").getByText("the tide is high").waitFor();
      await answer("The app wants to add a message", "Allow once");
      await app()
        .getByText(/^Say: got/)
        .waitFor();
      await press("Tell");
      await lines().getByText("for the model: ").waitFor();
    });

    it("has every message of its calls in the timeline", async () => {
      await goTo(page, "Timeline");
      await page.getByRole("searchbox", { name: "Filter by text" }).fill("refresh");
      await expect.poll(() => timelineOf(page).getByRole("option").count()).toBeGreaterThan(3);
      await page.getByRole("searchbox", { name: "Filter by text" }).fill("");
    });

    it("that never answers is said to be silent", async () => {
      await useServer(page, "tides", revision);
      await runTool(page, "show_tides", { city: "Bergen" });
      await frame().getByText("Waiting for the app…").waitFor();
    });
  });

  it("asked nobody but the inspector, its sandbox, and where the user agreed", () => {
    const { origin } = new URL(String(opened.requests.find((url) => url.endsWith("/sandbox"))));
    const others = strayRequests(opened).filter((url) => !url.startsWith(`${origin}/`));
    expect(others).toEqual(ERAS.map(() => VISITED));
    expect(opened.problems).toEqual([]);
  });
});
