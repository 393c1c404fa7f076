import type { Locator, Page } from "playwright-core";
import type { InspectedPage } from "../kit/inspected-page.js";
import { goTo } from "../page/page-session.js";

/** Chooses a tool of the connection that is shown, as a user does, and gives the panel of its form. */
export async function chooseTool(page: Page, name: string): Promise<Locator> {
  await goTo(page, "Use");
  await page.getByRole("tab", { name: /^Tools/ }).click();
  await page.getByRole("searchbox", { name: "Search tools" }).fill(name);
  const named = page.getByRole("option").filter({ has: page.getByText(name, { exact: true }) });
  await named.first().click();
  const panel = page.getByRole("tabpanel", { name: /^Tools/ });
  await panel.getByRole("button", { name: /^Run/ }).waitFor();
  return panel;
}

/** Runs a tool with what its form begins with, besides texts by the names of their fields. */
export async function runTool(page: Page, name: string, texts: Readonly<Record<string, string>> = {}): Promise<void> {
  const panel = await chooseTool(page, name);
  for (const [field, text] of Object.entries(texts))
    await panel.getByRole("textbox", { name: field, exact: true }).fill(text);
  await panel.getByRole("button", { name: /^Run/ }).click();
}

/** The outcome of the call that is shown. */
export const resultOf = (page: Page): Locator => page.getByRole("region", { name: "Result of the call" });

/** The dialog of the question that is shown. */
export const questionOf = (page: Page): Locator => page.getByRole("dialog", { name: /asks (?:you|a model)$/ });

/** Shows a connection by what its server is called. */
export async function chooseConnection(page: Page, name: string): Promise<void> {
  const connections = page.getByRole("navigation", { name: "Connections" });
  await connections.getByRole("button", { name: new RegExp(`^${name} ready`) }).click();
}

/** What the browser asked for besides the inspector itself. */
export function strayRequests({ inspector, requests }: InspectedPage): string[] {
  const { origin } = new URL(inspector.url);
  return requests.filter((url) => !url.startsWith(`${origin}/`));
}
