import type { Revision } from "@parley/mcp/protocol";
import type { Locator, Page } from "playwright-core";

/** What a user may type besides an address. */
export interface TypedParts {
  readonly revision?: Revision | undefined;
  /** As the select calls it. */
  readonly transport?: string;
  /** Lines of `Name: value`. */
  readonly headers?: string;
}

/**
 * Connects as a user does: types an address into the dialog, and waits until it is gone and the connection is the one shown. The page
 * knows already which connections there were.
 */
export async function connectToUrl(page: Page, url: string, typed: TypedParts = {}): Promise<void> {
  const { revision, transport, headers } = typed;
  const before = await connectionItems(page).count();
  await page.getByRole("button", { name: "Connect to a URL…" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect to a URL" });
  await dialog.getByLabel("URL").fill(url);
  if (revision !== undefined) await dialog.getByLabel("Revision").selectOption(revision);
  if (transport !== undefined) await dialog.getByLabel("Transport").selectOption({ label: transport });
  if (headers !== undefined) await dialog.getByLabel("Headers, one per line").fill(headers);
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  // The answer to the action may come before the state that has the connection; until then the page shows another.
  await connectionItems(page).nth(before).and(page.locator("[aria-current=true]")).waitFor();
}

/** The list of connections. */
export function connectionItems(page: Page): Locator {
  return page.getByRole("region", { name: "Connections" }).getByRole("button");
}

/** The connection that is shown, in the list, once its words have a text in them. */
export async function shownConnection(page: Page, words: string | RegExp): Promise<Locator> {
  const shown = page.locator("[aria-current=true]").filter({ hasText: words });
  await shown.waitFor();
  return shown;
}
