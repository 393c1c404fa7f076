import type { Page } from "playwright-core";
import { chooseServer, chooseTool, connectTo, entriesOf, goTo, questionOf, run } from "./steps.js";

/** The addresses of servers that the page connects to by itself. */
export interface PicturedServers {
  readonly wrong: string;
  readonly guarded: string;
}

/** A picture: its name, and what a user does before it is taken. */
export type PicturedView = readonly [name: string, show: (page: Page, servers: PicturedServers) => Promise<void>];

/** The pictures of the guide, taken in this order in one page. */
export const VIEWS: readonly PicturedView[] = [
  ["server", showServer],
  ["form", showForm],
  ["use", showResult],
  ["question", showQuestion],
  ["waterfall", showWaterfall],
  ["waterfall-dark", showDark],
  ["model", showModel],
  ["eras", showEras],
  ["problem", showProblem],
  ["session", showReplay],
  ["login", showLogin],
];

async function showServer(page: Page): Promise<void> {
  await chooseServer(page, "Everything");
  await goTo(page, "Server");
}

async function showForm(page: Page): Promise<void> {
  await chooseServer(page, "Travel");
  const panel = await chooseTool(page, "plan_trip");
  await panel.getByLabel(/^From\b/).fill("Oslo");
  await panel.getByLabel(/^To\b/).fill("Bergen");
  await panel.getByLabel(/^Day\b/).fill("2026-05-17");
}

async function showResult(page: Page): Promise<void> {
  const panel = await chooseTool(page, "plan_trip");
  await panel.getByLabel(/^Name\b/).fill("Ada");
  await panel.getByLabel(/^Age\b/).fill("36");
  await run(panel);
}

async function showQuestion(page: Page): Promise<void> {
  await chooseServer(page, "Everything");
  const panel = await chooseTool(page, "order");
  await panel.getByRole("button", { name: /^Run/ }).click();
  const asked = questionOf(page);
  await asked.getByLabel(/^size\b/).selectOption("large");
  await asked.getByLabel(/^colour\b/).selectOption("Green");
}

async function showWaterfall(page: Page): Promise<void> {
  await questionOf(page).getByRole("button", { name: "Accept" }).click();
  await questionOf(page).waitFor({ state: "detached" });
  await goTo(page, "Timeline");
  await entriesOf(page, /request.*tools\/call.*order/)
    .first()
    .click();
  await page.getByRole("tab", { name: "Waterfall" }).click();
}

async function showDark(page: Page): Promise<void> {
  await page.getByLabel("Theme").selectOption("dark");
}

async function showModel(page: Page): Promise<void> {
  await page.getByLabel("Theme").selectOption("light");
  await chooseServer(page, "Travel");
  await goTo(page, "Model");
  await page.getByRole("tab", { name: "OpenAI (strict)" }).click();
  await page.getByRole("option", { name: "plan_trip" }).click();
  await page.getByRole("region", { name: "What the server sent" }).waitFor();
}

async function showEras(page: Page): Promise<void> {
  await chooseServer(page, "Everything");
  await goTo(page, "Eras");
  await page.getByRole("textbox", { name: "Tool" }).fill("sum");
  await page.getByLabel("Arguments (JSON)").fill('{"numbers": [1, 2]}');
  await page.getByRole("button", { name: "Call in both" }).click();
  await page.getByRole("button", { name: "Call twice" }).click();
  await page.getByText("The results are the same.").waitFor();
}

async function showProblem(page: Page, { wrong }: PicturedServers): Promise<void> {
  await connectTo(page, wrong);
  await goTo(page, "Use");
  await goTo(page, "Timeline");
  await page.getByRole("button", { name: "Follow" }).click();
  await entriesOf(page, /result.*problem.*tools\/list/).click();
  await page.getByRole("tab", { name: "Message" }).click();
}

async function showReplay(page: Page): Promise<void> {
  await chooseServer(page, "Travel");
  await goTo(page, "Session");
  await page.getByRole("button", { name: "Start recording" }).click();
  await run(await chooseTool(page, "next_train"));
  await goTo(page, "Session");
  for (const label of ["Session", "Server"]) {
    await page.getByRole("combobox", { name: label, exact: true }).selectOption("c2");
  }
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("region", { name: /^Differences in/ }).scrollIntoViewIfNeeded();
}

async function showLogin(page: Page, { guarded }: PicturedServers): Promise<void> {
  await connectTo(page, guarded);
  await goTo(page, "Server");
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("button", { name: "Open the login page" }).click(),
  ]);
  await tab.waitForLoadState();
  await tab.close();
  await page.getByText(/^Scopes:/).waitFor();
}
