import { readFile } from "node:fs/promises";
import { content, Server } from "@parley/mcp";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../../examples/everything/server.js";
import { ERAS } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import type { PostedJsonServer } from "../../kit/posted-json.js";
import { goTo, timelineOf } from "../../page/page-session.js";
import { chooseTool, resultOf, runTool, strayRequests } from "../call-steps.js";
import { startFaultyServer } from "../see/faulty-server.js";
import { LONG, resultsServer } from "./results-server.js";
import { openOffers, resultJson, targetsInBothEras, useServer } from "./use-steps.js";

describe.skipIf(!hasBrowser)("results", () => {
  let opened: InspectedPage;
  let page: Page;
  let faulty: PostedJsonServer;

  beforeAll(async () => {
    faulty = await startFaultyServer();
    // Its result names a resource, though it has none.
    const lone = new Server({ name: "lone", version: "1" }).tool("points", {}, () => [
      content.link("lost://there", { name: "there" }),
    ]);
    opened = await openInspectedPage({
      targets: [resultsServer(), everything, lone, faulty.url].flatMap(targetsInBothEras),
    });
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    await faulty?.close();
  });

  const result = () => resultOf(page);
  const done = () => result().getByText("Done").waitFor();
  const problem = () => result().getByRole("note", { name: "Problem" });

  describe.each(ERAS)("in %s", (revision) => {
    const run = async (name: string) => {
      await useServer(page, "results", revision);
      await runTool(page, name);
      await done();
    };

    it("show pictures that carry their data, and say why another is not shown", async () => {
      await run("picture");
      const pictures = result().getByRole("img");
      expect(await pictures.count()).toBe(2);
      const widthOf = (at: number) => pictures.nth(at).evaluate((image) => (image as HTMLImageElement).naturalWidth);
      await expect.poll(() => Promise.all([widthOf(0), widthOf(1)])).toEqual([1, 12]);
      await result().getByText("image/png 70 B 1 × 1").waitFor();
      await result().getByText("The media type image/tiff is not supported.").waitFor();
    });

    it("play sounds", async () => {
      await run("sound");
      const sound = result().getByLabel("Audio from the server");
      const seconds = () => sound.evaluate((audio) => (audio as HTMLAudioElement).duration);
      await expect.poll(seconds).toBeCloseTo(0.1);
    });

    it("show Markdown without its HTML, its pictures elsewhere, and links that do not ask", async () => {
      await run("markdown");
      await result().getByRole("heading", { name: "Harbour" }).waitFor();
      expect(await result().getByRole("listitem").allTextContents()).toEqual(["boats", "gulls", "☑ nets"]);
      await result().getByRole("cell", { name: "Bergen" }).waitFor();
      expect(await result().getByRole("img").count()).toBe(0);
      await result().getByText("not loaded: a map https://example.com/map.png").waitFor();
      await result().getByText("<b>bold</b>").waitFor();
      expect(await result().getByRole("button", { name: "nothing" }).count()).toBe(0);
      await result().getByRole("button", { name: "the tide table" }).click();
      const dialog = page.getByRole("dialog", { name: "Open this URL?" });
      await dialog.getByText("https://example.com/tides").waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await result().getByRole("button", { name: "Text", exact: true }).click();
      await result().getByText("# Harbour").waitFor();
    });

    it("show structured content as a table, a tree and JSON, and its text once", async () => {
      await run("cities");
      expect(await result().getByRole("columnheader").allTextContents()).toEqual(["city", "degrees", "wind", "rain"]);
      const rows = result().getByRole("row");
      expect(await rows.nth(1).getByRole("cell").allTextContents()).toEqual(["Oslo", "4", '{"from":"N"}', ""]);
      const form = result().getByRole("group", { name: "Show structured content as" });
      await form.getByRole("button", { name: "Tree" }).click();
      expect(await result().getByText('"N"').count()).toBe(0);
      await result().getByRole("button", { name: "cities: [2]" }).waitFor();
      await result().getByRole("button", { name: "0: {3}" }).click();
      await result().getByRole("button", { name: "wind: {1}" }).click();
      await result().getByText('"N"').waitFor();
      await form.getByRole("button", { name: "JSON" }).click();
      await result().getByText('"degrees": 9').waitFor();
      expect(await result().getByText("Same content as text").count()).toBe(1);
    });

    it("show a list inside structured content as a table in the table", async () => {
      await run("country");
      expect(await result().getByRole("columnheader").allTextContents()).toEqual([
        ...["name", "value"],
        ...["city", "degrees", "wind", "rain"],
      ]);
      await result().getByRole("cell", { name: "Oslo", exact: true }).waitFor();
    });

    it("show bytes, and save them as they are", async () => {
      await run("bytes");
      await result().getByText("00 01 02 50 41 52").waitFor();
      const download = page.waitForEvent("download");
      await result().getByRole("article").getByRole("button", { name: "Save" }).click();
      const saved = await download;
      expect(saved.suggestedFilename()).toBe("data.bin");
      expect([...(await readFile(await saved.path()))]).toEqual([0, 1, 2, 80, 65, 82]);
    });

    it("read a resource that is only named, also one that is in no list", async () => {
      await run("linked");
      await result().getByText("What comes next").waitFor();
      await result().getByRole("button", { name: "Read hidden://spring" }).click();
      await page.getByText("The server does not list this resource.").waitFor();
      await result().getByText("the contents of spring").waitFor();
      await useServer(page, "Everything", revision);
      await runTool(page, "media");
      await result().getByText("A note inside the result").waitFor();
      await result().getByText("The image is broken").waitFor();
      await result().getByText("The audio is broken").waitFor();
      await result().getByRole("button", { name: "Read note://tomorrow" }).click();
      await page.getByRole("heading", { name: "tomorrow", level: 2 }).waitFor();
      await result().getByText("Read it again").waitFor();
    });

    it("say why a resource cannot be read that is named by a server without any", async () => {
      await useServer(page, "lone", revision);
      await runTool(page, "points");
      expect(await page.getByRole("tab", { name: /^Resources/ }).count()).toBe(0);
      await result().getByRole("button", { name: "Read lost://there" }).click();
      await page.getByRole("heading", { name: "lost://there" }).waitFor();
      await problem()
        .getByText(/resources/)
        .first()
        .waitFor();
    });

    it("are cut where they are long, and can be saved as a whole", async () => {
      await run("long");
      const shown = async () => (await result().locator("pre").textContent())?.length;
      expect(await shown()).toBe(200_000);
      const download = page.waitForEvent("download");
      await result().getByRole("button", { name: "Save all" }).click();
      expect(await readFile(await (await download).path(), "utf8")).toBe(LONG);
      await result().getByRole("button", { name: "Show more" }).click();
      await expect.poll(shown).toBe(LONG.length);
    });

    it("tell errors of a tool from those of the protocol, each with what to do", async () => {
      await useServer(page, "Everything", revision);
      const failing = async (how: string) => {
        const panel = await chooseTool(page, "fail");
        await panel.getByLabel("how", { exact: true }).selectOption(how);
        await panel.getByRole("button", { name: /^Run/ }).click();
      };
      await failing("model");
      await result().getByText("The tool reported an error").waitFor();
      await result().getByText("That city has no station; try Oslo.").waitFor();
      expect(await problem().count()).toBe(0);
      await failing("protocol");
      await problem().getByText("there is no such account").waitFor();
      expect(await problem().textContent()).toMatch(/^invalid_params.*account: 7/s);
      await openOffers(page, "Request");
      await page.getByLabel("Method").fill("no/such");
      await page.getByRole("button", { name: /^Send/ }).click();
      await problem().getByText("no/such").waitFor();
      expect(await problem().textContent()).toMatch(/^method_not_found.*Fix: Call only methods/s);
    });

    it("lead to their messages, and to the one that is wrong", async () => {
      await useServer(page, "faulty", revision);
      const chosen = timelineOf(page).getByRole("option", { selected: true });
      await runTool(page, "right");
      await result().getByText("fine").waitFor();
      expect(
        await result()
          .getByRole("button", { name: /violates the published schema/ })
          .count(),
      ).toBe(0);
      await result().getByRole("button", { name: "2 messages in the timeline" }).click();
      await chosen.filter({ hasText: "tools/call" }).filter({ hasText: "right" }).waitFor();
      await goTo(page, "Use");
      await runTool(page, "wrong-block");
      await result()
        .getByRole("button", { name: /violates the published schema in 1 place$/ })
        .click();
      await page.getByText("/result/content/1/text").first().waitFor();
    });

    it("are there as JSON, as the server sent them", async () => {
      await useServer(page, "Everything", revision);
      const panel = await chooseTool(page, "sum");
      for (const [index, number] of ["1", "2.5"].entries()) {
        await panel.getByRole("button", { name: "Add item to numbers" }).click();
        await panel.getByLabel(`numbers ${index + 1}`, { exact: true }).fill(number);
      }
      await panel.getByRole("button", { name: /^Run/ }).click();
      await done();
      expect(await resultJson(page)).toMatchObject({ structuredContent: { sum: 3.5, coerced: false } });
    });
  });

  it("load nothing from elsewhere, and have no errors", () => {
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
