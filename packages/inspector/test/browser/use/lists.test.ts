import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../../examples/everything/server.js";
import { serveReleases } from "../../../../../examples/skills/server.js";
import { ERAS } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { resultOf, runTool, strayRequests } from "../call-steps.js";
import { chooseOffer, listOf, openOffers, targetsInBothEras, useServer } from "./use-steps.js";

const SKILL = `---
name: release-notes
description: Writes release notes
---
# Release notes

Fill in \`templates/notes.md\`.
`;

describe.skipIf(!hasBrowser)("what a server offers", () => {
  let folder: string;
  let opened: InspectedPage;
  let page: Page;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-lists-"));
    mkdirSync(join(folder, "release-notes/templates"), { recursive: true });
    writeFileSync(join(folder, "release-notes/SKILL.md"), SKILL);
    writeFileSync(join(folder, "release-notes/templates/notes.md"), "## What is new\n");
    const skills = serveReleases(folder).server;
    opened = await openInspectedPage({ targets: [...targetsInBothEras(everything), ...targetsInBothEras(skills)] });
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    rmSync(folder, { recursive: true });
  });

  const options = (kind: string) => listOf(page, kind).getByRole("option");
  const search = (kind: string) => page.getByRole("searchbox", { name: `Search ${kind}` });
  const heading = (name: string) => page.getByRole("heading", { name, exact: true, level: 2 }).waitFor();

  describe.each(ERAS)("in %s", (revision) => {
    it("is found by words of its name and its description, and by letters", async () => {
      await useServer(page, "Everything", revision);
      const panel = await openOffers(page, "Tools");
      const all = (await panel.getByText(/^\d+ tools$/).textContent()) ?? "";
      await expect.poll(() => options("tools").count()).toBeGreaterThan(10);
      await search("tools").fill("finds book");
      await panel.getByText(/^1 of \d+ tools$/).waitFor();
      expect(await options("tools").allTextContents()).toEqual([expect.stringContaining("library_find")]);
      await search("tools").fill("lbrfnd");
      await panel.getByText(/^1 of \d+ tools$/).waitFor();
      await search("tools").fill("no such tool");
      await panel.getByText(/^0 of \d+ tools$/).waitFor();
      await page.keyboard.press("Escape");
      await panel.getByText(all, { exact: true }).waitFor();
      await expect.poll(() => options("tools").count()).toBeGreaterThan(10);
    });

    it("is chosen by the keyboard", async () => {
      await useServer(page, "Everything", revision);
      await openOffers(page, "Tools");
      await page.keyboard.press("/");
      await page.keyboard.type("note");
      await expect.poll(() => options("tools").count()).toBe(1);
      await listOf(page, "tools").focus();
      await page.keyboard.press("ArrowDown");
      await heading("write");
      await listOf(page, "tools").getByRole("option", { selected: true }).filter({ hasText: "write" }).waitFor();
      await search("tools").fill("");
      await listOf(page, "tools").focus();
      await page.keyboard.press("Home");
      await heading("Sum");
      await page.keyboard.press("ArrowDown");
      await heading("primes");
    });

    it("is a resource that can be searched and read", async () => {
      await useServer(page, "Everything", revision);
      const panel = await openOffers(page, "Resources");
      await search("resources").fill("book");
      await expect.poll(() => options("resources").count()).toBe(2);
      await chooseOffer(page, "resources", "config://app");
      await panel.getByText("application/json").first().waitFor();
      await panel.getByRole("button", { name: "Read", exact: true }).click();
      await resultOf(page).getByText('theme: "dark"').waitFor();
    });

    it("is a template whose variables are completed while typing", async () => {
      await useServer(page, "Everything", revision);
      const panel = await openOffers(page, "Templates");
      await chooseOffer(page, "templates", "note://{id}", "note");
      const variable = panel.getByRole("combobox", { name: "id" });
      await variable.fill("tom");
      await panel
        .getByRole("listbox", { name: "Suggestions for id" })
        .getByRole("option", { name: "tomorrow" })
        .click();
      expect(await variable.inputValue()).toBe("tomorrow");
      await panel.getByText("note://tomorrow").first().waitFor();
      await page.keyboard.press("Control+Enter");
      await resultOf(page).getByText("Read it again").waitFor();
    });

    it("is a prompt whose arguments are completed by the keyboard, and whose messages say who speaks", async () => {
      await useServer(page, "Everything", revision);
      const panel = await openOffers(page, "Prompts");
      await chooseOffer(page, "prompts", "review");
      const language = panel.getByRole("combobox", { name: "language" });
      await panel.getByRole("button", { name: "Get prompt" }).click();
      await resultOf(page).getByText('the required argument "language" is missing').waitFor();
      await panel.getByText("Required", { exact: true }).waitFor();
      const suggestions = panel.getByRole("listbox", { name: "Suggestions for language" }).getByRole("option");
      await language.fill("");
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => suggestions.allTextContents()).toEqual(["English", "French", "German"]);
      await language.pressSequentially("Fr");
      await expect.poll(() => suggestions.allTextContents()).toEqual(["French"]);
      await page.keyboard.press("Escape");
      await expect.poll(() => language.getAttribute("aria-expanded")).toBe("false");
      await page.keyboard.press("ArrowDown");
      await suggestions.first().waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      expect(await language.inputValue()).toBe("French");
      await panel.getByRole("button", { name: "Get prompt", disabled: false }).waitFor();
      await page.keyboard.press("Control+Enter");
      await resultOf(page).getByText("Review this French text:").waitFor();
      const messages = await resultOf(page).locator(".results-message").allTextContents();
      expect(messages.map((text) => text.slice(0, 4))).toEqual(["user", "user", "assi"]);
    });

    it("is a skill with its text and its files", async () => {
      await useServer(page, "releases", revision);
      const panel = await openOffers(page, "Skills");
      await search("skills").fill("writes");
      await options("skills").filter({ hasText: "release-notes" }).click();
      await panel.getByRole("button", { name: "Load with files" }).click();
      await resultOf(page).getByRole("heading", { name: "Release notes" }).waitFor();
      await resultOf(page).getByText("skill://release-notes/templates/notes.md").waitFor();
      await resultOf(page).getByRole("heading", { name: "What is new" }).waitFor();
    });

    it("changes while it is looked at", async () => {
      await useServer(page, "Everything", revision);
      const learnt = `trick_${revision.replaceAll("-", "")}`;
      await runTool(page, "learn", { name: learnt });
      await resultOf(page).getByText(`learnt ${learnt}`).waitFor();
      await search("tools").fill(learnt);
      await options("tools").filter({ hasText: learnt }).waitFor();
      await runTool(page, learnt);
      await resultOf(page).getByText(`I am ${learnt}`).waitFor();
      const tab = page.getByRole("tab", { name: /^Resources/ });
      await expect.poll(() => tab.textContent()).toMatch(/^Resources\d+$/);
      const before = Number((await tab.textContent())?.replace(/\D/g, ""));
      await runTool(page, "write", { id: learnt, text: "new" });
      await expect.poll(() => tab.textContent()).toBe(`Resources${before + 1}`);
    });
  });

  it("is shown without asking anybody else, and without errors", () => {
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
