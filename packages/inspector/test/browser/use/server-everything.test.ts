import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerPath } from "../../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../../mcp/test/mounts/peer-packages.js";
import { ERAS, programTarget } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { chooseTool, questionOf, resultOf, runTool, strayRequests } from "../call-steps.js";
import { chooseOffer, openOffers, useServer } from "./use-steps.js";

if (!peersInstalled) console.log("the peers are not installed (npm run peers); server-everything was not used");

const PROGRAM = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/** It speaks no stateless revision. */
describe.skipIf(!hasBrowser || !peersInstalled)("the published server-everything", () => {
  let opened: InspectedPage;
  let page: Page;

  beforeAll(async () => {
    opened = await openInspectedPage({ targets: [programTarget(peerPath(PROGRAM), "stdio")] });
    page = opened.page;
    await useServer(page, ".*", ERAS[0]);
  });
  afterAll(() => opened?.close());

  const result = () => resultOf(page);
  const run = (panel: Locator) => panel.getByRole("button", { name: /^Run/ });
  const suggestions = (name: string) =>
    page.getByRole("listbox", { name: `Suggestions for ${name}` }).getByRole("option");

  it("has all that it offers in lists", async () => {
    for (const title of ["Tools", "Resources", "Templates", "Prompts"]) {
      const panel = await openOffers(page, title);
      await panel.getByText(new RegExp(`^\\d+ ${title.toLowerCase()}$`)).waitFor();
      await expect.poll(() => panel.getByRole("option").count()).toBeGreaterThan(1);
    }
  });

  it("takes arguments from forms, and answers by type", async () => {
    await runTool(page, "echo", { message: "hello there" });
    await result().getByText("Echo: hello there").waitFor();
    await runTool(page, "get-sum", { a: "2", b: "3.5" });
    await result().getByText("The sum of 2 and 3.5 is 5.5.").waitFor();
    const annotated = await chooseTool(page, "get-annotated-message");
    await annotated.getByLabel("messageType", { exact: true }).selectOption("success");
    await annotated.getByLabel("includeImage", { exact: true }).check();
    await run(annotated).click();
    await result().getByText("Operation completed successfully").waitFor();
    const width = () =>
      result()
        .getByRole("img")
        .evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(width).toBeGreaterThan(1);
    const weather = await chooseTool(page, "get-structured-content");
    await weather.getByLabel("location", { exact: true }).selectOption("Chicago");
    await run(weather).click();
    await result()
      .getByRole("row", { name: /^temperature \d+/ })
      .waitFor();
  });

  it("has links that are read, and resources inside results", async () => {
    await runTool(page, "get-resource-links", { count: "2" });
    await result()
      .getByRole("button", { name: /^Read demo:.*text/ })
      .click();
    await page.getByText("The server does not list this resource.").waitFor();
    await result()
      .getByText(/plaintext resource/)
      .waitFor();
    const panel = await chooseTool(page, "get-resource-reference");
    await panel.getByLabel("resourceType", { exact: true }).selectOption("Blob");
    await run(panel).click();
    await result()
      .getByText(/^demo:.*blob\/1/)
      .first()
      .waitFor();
  });

  it("completes the second argument by the first", async () => {
    const panel = await openOffers(page, "Prompts");
    await chooseOffer(page, "prompts", "completable-prompt", "Team Management");
    await panel.getByRole("combobox", { name: "department" }).pressSequentially("Eng");
    await expect.poll(() => suggestions("department").allTextContents()).toEqual(["Engineering"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await panel.getByRole("combobox", { name: "name" }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => suggestions("name").count()).toBeGreaterThan(1);
    const [name] = await suggestions("name").allTextContents();
    await suggestions("name").first().click();
    await panel.getByRole("button", { name: "Get prompt" }).click();
    await result().getByText(`Please promote ${name} to the head of the Engineering team.`).waitFor();
  });

  it("reads a template, and watches what it names", async () => {
    const panel = await openOffers(page, "Templates");
    await chooseOffer(page, "templates", "demo://resource/dynamic/text/{resourceId}", "Dynamic Text Resource");
    await panel.getByRole("combobox", { name: "resourceId" }).fill("7");
    await panel.getByRole("button", { name: "Read", exact: true }).click();
    await result()
      .getByText(/Resource 7/)
      .waitFor();
    await panel.getByRole("button", { name: "Subscribe", exact: true }).click();
    await panel.getByText("0 updates").waitFor();
    await runTool(page, "toggle-subscriber-updates");
    await openOffers(page, "Templates");
    await panel.getByText(/^[1-9]\d* updates?$/).waitFor();
    await panel.getByRole("button", { name: "Unsubscribe" }).click();
    await runTool(page, "toggle-subscriber-updates");
  });

  it("tells its progress, and is cancelled", async () => {
    const panel = await chooseTool(page, "trigger-long-running-operation");
    await panel.getByLabel("duration", { exact: true }).fill("60");
    await panel.getByLabel("steps", { exact: true }).fill("300");
    await run(panel).click();
    const bar = page.getByRole("progressbar", { name: "Progress of trigger-long-running-operation" });
    const value = async () => Number(await bar.getAttribute("value"));
    await expect.poll(value).toBeGreaterThan(0);
    const before = await value();
    await expect.poll(value).toBeGreaterThan(before);
    await panel.getByRole("button", { name: "Cancel", exact: true }).click();
    await result().getByText("Cancelled", { exact: true }).waitFor();
  });

  it("runs a tool that must be a task, with its status and a question on its way", async () => {
    const panel = await chooseTool(page, "simulate-research-query");
    expect(await panel.getByLabel("Run as a task").isDisabled()).toBe(true);
    expect(await panel.getByLabel("Run as a task").isChecked()).toBe(true);
    await panel.getByLabel("topic", { exact: true }).fill("tides");
    await panel.getByLabel("ambiguous", { exact: true }).check();
    await run(panel).click();
    // It works for a second before it asks.
    await panel.getByText(/^Task \S+: (?:working|input_required)/).waitFor();
    await questionOf(page).getByRole("combobox").first().selectOption({ index: 1 });
    await questionOf(page).getByRole("button", { name: "Accept" }).click();
    await result()
      .getByText(/stages/)
      .first()
      .waitFor({ timeout: 20_000 });
  });

  it("is used without asking anybody else, and without errors", () => {
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
