import type { Locator, Page } from "playwright-core";
import { timelineOf } from "../../page/page-session.js";

/** A window so high that every row of a test is shown. */
export const ALL_ROWS = { width: 1280, height: 6000 };

/** A row of the timeline as it is read. */
export interface ShownRow {
  /** Seconds since the inspector began. */
  readonly time: number;
  readonly direction: string;
  readonly kind: string;
  readonly label: string;
  readonly took: string;
  readonly size: string;
  readonly text: string;
}

/** The rows that are shown, from the first. The window must be high enough for all. */
export async function shownRows(page: Page): Promise<ShownRow[]> {
  const rows = await timelineOf(page)
    .getByRole("option")
    .evaluateAll((options) =>
      options.map((option) => [...(option.firstElementChild?.children ?? [])].map((cell) => cell.textContent ?? "")),
    );
  return rows.map(([time = "", direction = "", kind = "", label = "", took = "", size = ""]) => ({
    time: Number.parseFloat(time),
    direction: direction.replace(/^\S+ /, ""),
    kind,
    label,
    took,
    size,
    text: [direction, kind, label].join(" "),
  }));
}

/** Chooses the entry of a row by words in it, the newest of them. */
export async function chooseEntry(page: Page, words: RegExp): Promise<Locator> {
  await timelineOf(page).getByRole("option", { name: words }).last().click();
  return page.getByRole("region", { name: "Entry" });
}

/** Shows a part of the chosen entry. */
export async function choosePart(page: Page, part: "Message" | "Headers" | "Waterfall" | "Copy as"): Promise<void> {
  await page.getByRole("tablist", { name: "Entry details" }).getByRole("tab", { name: part }).click();
}

/** The message of the chosen entry, as it is shown. */
export async function shownMessage(page: Page): Promise<string> {
  const message = page.getByRole("region", { name: "Message", exact: true });
  return (await message.locator("pre").textContent()) ?? "";
}
