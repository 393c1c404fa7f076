import { connect, type Server } from "@parley/mcp";
import type { Revision } from "@parley/mcp/protocol";
import type { Locator, Page } from "playwright-core";
import type { InspectorTarget } from "../../../src/connections/inspector-target.js";
import { ERAS } from "../../engine/opened-engine.js";
import { goTo } from "../../page/page-session.js";
import { resultOf } from "../call-steps.js";

/** A server of this process, or one at an address, as one target for each era, so that one page tries both. */
export function targetsInBothEras(server: Server | string): InspectorTarget[] {
  return ERAS.map((revision) => ({
    kind: typeof server === "string" ? "url" : "server",
    shown: `${typeof server === "string" ? server : "a server of this process"} in ${revision}`,
    open: (options) => connect(server, { ...options, revisions: [revision] }),
  }));
}

/** Shows the view for using a server in an era. */
export async function useServer(page: Page, name: string, revision: Revision): Promise<void> {
  const connections = page.getByRole("navigation", { name: "Connections" });
  await connections.getByRole("button", { name: new RegExp(`^${name} ready · ${revision}`) }).click();
  await goTo(page, "Use");
}

/** What a server offers, by the title of a tab. */
export async function openOffers(page: Page, title: string): Promise<Locator> {
  await page.getByRole("tab", { name: new RegExp(`^${title}\\d*$`) }).click();
  return page.getByRole("tabpanel", { name: new RegExp(`^${title}\\d*$`) });
}

/** The list of a kind, such as `tools`. */
export const listOf = (page: Page, kind: string): Locator => page.getByRole("listbox", { name: `List of ${kind}` });

/** Chooses an offer of the list that is shown, and waits for its heading. */
export async function chooseOffer(page: Page, kind: string, name: string, heading = name): Promise<void> {
  await page.getByRole("searchbox", { name: `Search ${kind}` }).fill(name);
  const row = page.getByText(name, { exact: true });
  await listOf(page, kind).getByRole("option").filter({ has: row }).click();
  await page.getByRole("heading", { name: heading, exact: true, level: 2 }).waitFor();
}

/** The result that is shown, as the JSON that the server sent. Leaves the side of the JSON chosen. */
export async function resultJson(page: Page): Promise<Record<string, unknown>> {
  await resultOf(page).getByRole("tab", { name: "JSON" }).click();
  return JSON.parse((await resultOf(page).locator("pre").textContent()) ?? "");
}
