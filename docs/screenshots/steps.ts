import type { Locator, Page } from "playwright-core";

/** Goes to a view by its tab. */
export async function goTo(page: Page, view: string): Promise<void> {
  await page.getByRole("tablist", { name: "Views" }).getByRole("tab", { name: view }).click();
}

/** Shows a connection that is ready, by the name of its server. */
export async function chooseServer(page: Page, name: string): Promise<void> {
  const connections = page.getByRole("navigation", { name: "Connections" });
  await connections.getByRole("button", { name: new RegExp(`^${name} ready`) }).click();
}

/** Chooses a tool of the connection that is shown, and gives the panel of its form. */
export async function chooseTool(page: Page, name: string): Promise<Locator> {
  await goTo(page, "Use");
  await page.getByRole("tab", { name: /^Tools/ }).click();
  const named = page.getByRole("option").filter({ has: page.getByText(name, { exact: true }) });
  await named.first().click();
  const panel = page.getByRole("tabpanel", { name: /^Tools/ });
  await panel.getByRole("button", { name: /^Run/ }).waitFor();
  return panel;
}

/** Runs the tool of a panel, and waits for how it ends. */
export async function run(panel: Locator): Promise<void> {
  await panel.getByRole("button", { name: /^Run/ }).click();
  await panel.getByRole("region", { name: "Result of the call" }).waitFor();
}

/** Connects to an address as a user does. */
export async function connectTo(page: Page, url: string): Promise<void> {
  await page.getByRole("button", { name: "Connect to a URL…" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect to a URL" });
  await dialog.getByLabel("URL").fill(url);
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** The dialog of the question that is shown. */
export const questionOf = (page: Page): Locator => page.getByRole("dialog", { name: /asks (?:you|a model)$/ });

/** The entries of the timeline that have a name. */
export const entriesOf = (page: Page, name: RegExp): Locator =>
  page.getByRole("listbox", { name: "Timeline" }).getByRole("option", { name });
