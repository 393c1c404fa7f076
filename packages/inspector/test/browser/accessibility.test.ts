import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { serverTarget } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { goTo, timelineOf } from "../page/page-session.js";
import { chooseConnection, chooseTool, questionOf, resultOf, runTool } from "./call-steps.js";
import { resultsServer } from "./use/results-server.js";
import { shapesServer } from "./use/shapes-server.js";
import { chooseOffer, listOf, openOffers } from "./use/use-steps.js";

const SIZE = { width: 1280, height: 800 };
/** The same window at 200 %. */
const TWICE = { width: 640, height: 400 };
const NARROWEST = { width: 320, height: 640 };

/** What is beyond an edge of the window and cannot be scrolled to: whole pages, and controls. */
function cutOff(): string[] {
  const isScrolled = (element: Element | null): boolean =>
    element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || isScrolled(element.parentElement));
  const wider = document.documentElement.scrollWidth - innerWidth;
  const controls = [...document.querySelectorAll("button, input, select, textarea, [role=tab], [role=listbox]")];
  const hidden = controls.filter((control) => {
    const { left, right, width } = control.getBoundingClientRect();
    const isShown = control.checkVisibility({ visibilityProperty: true }) && width > 1;
    return isShown && (left < -1 || right > innerWidth + 1) && !isScrolled(control.parentElement);
  });
  return [
    ...(wider > 0 ? [`the page is ${wider} px wider than the window`] : []),
    ...hidden.map((one) => one.outerHTML.slice(0, 150)),
  ];
}

describe.skipIf(!hasBrowser)("every view and dialog", () => {
  let opened: InspectedPage;
  let page: Page;

  beforeAll(async () => {
    const targets = [everything, shapesServer().server, resultsServer()].map(serverTarget);
    opened = await openInspectedPage({ targets, model: async () => Promise.reject(new Error("no model")) });
    page = opened.page;
    await chooseConnection(page, "Everything");
  });
  afterAll(() => opened?.close());

  /** Looks at what is shown: in light and dark, at 200 % and in a narrow window. */
  async function expectUsable(): Promise<void> {
    expect(await barriers(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await barriers(page, ["color-contrast"]), "dark").toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    for (const size of [TWICE, NARROWEST]) {
      await page.setViewportSize(size);
      expect(await page.evaluate(cutOff), `${size.width} px`).toEqual([]);
    }
    await page.setViewportSize(SIZE);
  }

  const stations: Readonly<Record<string, () => Promise<unknown>>> = {
    "the server": () => goTo(page, "Server"),
    "the server, with a root being written": () => page.getByRole("button", { name: /^Add/ }).click(),
    "the dialog for an address": async () => {
      await page.getByRole("button", { name: "Connect to a URL…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Connect", exact: true }).waitFor();
    },
    "the keys": async () => {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Shortcuts/ }).click();
    },
    "the list of tools": async () => {
      await page.keyboard.press("Escape");
      await goTo(page, "Use");
    },
    "a form with fields of all types": async () => {
      await chooseConnection(page, "shapes");
      await chooseTool(page, "words");
    },
    "a form as JSON that is wrong": async () => {
      await page
        .getByRole("button", { name: "JSON", exact: true })
        .or(page.getByRole("tab", { name: "JSON" }))
        .click();
      await page.getByRole("textbox", { name: /JSON/ }).fill("{ wrong");
    },
    "a form with forms in it": () => chooseTool(page, "nests"),
    "a result of structured content": () => ended("cities"),
    "a result in Markdown": () => ended("markdown"),
    "the dialog of a link": () => resultOf(page).getByRole("button", { name: "the tide table" }).click(),
    "a result with a picture": async () => {
      await page.keyboard.press("Escape");
      await ended("picture");
    },
    "a result that is an error": async () => {
      await chooseConnection(page, "Everything");
      await chooseTool(page, "fail");
      await page.getByRole("combobox", { name: "how" }).selectOption("model");
      await page.getByRole("button", { name: /^Run/ }).click();
      await resultOf(page).waitFor();
    },
    "a question that is a form": () => asked("order"),
    "a question put aside": async () => {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "1 question is waiting" }).waitFor();
    },
    "a question that is a page to visit": async () => {
      await answered("Cancel");
      await asked("pay");
    },
    "a question to a model": async () => {
      await answered("Decline");
      await asked("ask", { question: "Why?" });
    },
    "a resource": async () => {
      await answered("Decline");
      await openOffers(page, "Resources");
      await chooseOffer(page, "resources", "config://app");
      await page.getByRole("button", { name: "Subscribe" }).click();
      await page.getByRole("button", { name: "Read", exact: true }).click();
      await resultOf(page).waitFor();
    },
    "a template": async () => {
      await openOffers(page, "Templates");
      await listOf(page, "templates").getByRole("option").first().click();
      await page.getByRole("button", { name: "Read", exact: true }).waitFor();
    },
    "a prompt, with suggestions": async () => {
      await openOffers(page, "Prompts");
      await chooseOffer(page, "prompts", "review");
      await page.getByRole("combobox", { name: "language" }).fill("E");
      await page.getByRole("option", { name: "English" }).waitFor();
    },
    "a request of one's own": () => openOffers(page, "Request"),
    "the timeline": async () => {
      await goTo(page, "Timeline");
      await timelineOf(page).press("End");
      await page.getByRole("region", { name: "Message" }).waitFor();
    },
    "headers of an entry": () => page.getByRole("tab", { name: "Headers" }).click(),
    "the waterfall of an entry": () => page.getByRole("tab", { name: "Waterfall" }).click(),
    "the copies of an entry": async () => {
      await page.getByRole("tab", { name: "Copy as" }).click();
      await page.getByRole("button", { name: "Copy as JSON" }).click();
    },
    "the dialog that clears the timeline": () => page.getByRole("button", { name: "Clear…" }).click(),
    "a filter that nothing passes": async () => {
      await page.keyboard.press("Escape");
      await page.getByRole("searchbox", { name: "Filter by text" }).fill("there is none");
    },
    "tools as models see them": async () => {
      await goTo(page, "Model");
      await page.getByRole("listbox").getByRole("option").first().click();
      await page.getByRole("region", { name: "What the model gets" }).waitFor();
    },
    "the dialog before a call in both eras": async () => {
      await goTo(page, "Eras");
      await page.getByRole("textbox", { name: "Tool" }).fill("counts");
      await page.getByRole("button", { name: "Call in both" }).click();
    },
    "a call in both eras": async () => {
      await page.getByRole("button", { name: "Call twice" }).click();
      await page.getByRole("heading", { name: "Differences between the results" }).waitFor();
    },
    "the session, while it is recorded": async () => {
      await goTo(page, "Session");
      await page.getByRole("button", { name: "Start recording" }).click();
      await page.getByText(/recording, \d+ messages/).waitFor();
    },
  };

  async function ended(tool: string): Promise<void> {
    await chooseConnection(page, "results");
    await runTool(page, tool);
    await resultOf(page).waitFor();
  }

  async function asked(tool: string, texts: Readonly<Record<string, string>> = {}): Promise<void> {
    await runTool(page, tool, texts);
    await questionOf(page).waitFor();
  }

  /** Answers the question that waits, also one that was put aside. */
  async function answered(name: string): Promise<void> {
    const aside = page.getByRole("button", { name: "1 question is waiting" });
    if (await aside.isVisible()) await aside.click();
    await questionOf(page).getByRole("button", { name }).click();
    await questionOf(page).waitFor({ state: "detached" });
  }

  it.each(Object.keys(stations))("can be seen and used by everybody: %s", async (station) => {
    await stations[station]?.();
    await expectUsable();
    expect(opened.problems).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("a window at 200 %", () => {
  it("brings into sight what is chosen in a list", async () => {
    const { page, close } = await openInspectedPage({ targets: [serverTarget(everything)] }, { viewport: TWICE });
    onTestFinished(close);
    const isSeen = (locator: Locator) =>
      locator.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await page.getByRole("listbox", { name: "List of tools" }).getByRole("option").first().click();
    const run = page.getByRole("heading", { level: 2, name: "Sum" });
    await expect.poll(() => isSeen(run)).toBe(true);
    await goTo(page, "Timeline");
    await timelineOf(page).getByRole("option").first().click();
    await expect.poll(() => isSeen(page.getByRole("tab", { name: "Headers" }))).toBe(true);
    await goTo(page, "Model");
    await page.getByRole("listbox").getByRole("option").first().click();
    await expect.poll(() => isSeen(page.getByRole("region", { name: "Tool" }).getByRole("heading").first())).toBe(true);
  });
});
