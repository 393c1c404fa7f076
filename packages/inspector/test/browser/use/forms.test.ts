import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERAS } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { chooseTool, resultOf, strayRequests } from "../call-steps.js";
import { shapesServer, WORDS } from "./shapes-server.js";
import { chooseOffer, openOffers, targetsInBothEras, useServer } from "./use-steps.js";

describe.skipIf(!hasBrowser)("forms of tools", () => {
  const { server, received } = shapesServer();
  let opened: InspectedPage;
  let page: Page;
  let panel: Locator;

  beforeAll(async () => {
    opened = await openInspectedPage({ targets: targetsInBothEras(server) });
    page = opened.page;
  });
  afterAll(() => opened?.close());

  const field = (name: string) => panel.getByLabel(name, { exact: true });
  const button = (name: string) => panel.getByRole("button", { name, exact: true });
  const run = () => panel.getByRole("button", { name: /^Run/ });
  const side = (name: "Form" | "JSON") =>
    panel.getByRole("tablist", { name: /^Form or JSON/ }).getByRole("tab", { name, exact: true });
  const json = () => panel.getByLabel("The whole value as JSON");

  /** Runs the form, and gives what reached the server. */
  async function sent(): Promise<unknown> {
    const before = received.length;
    await run().click();
    await expect.poll(() => received.length).toBe(before + 1);
    await resultOf(page).getByText("Done").waitFor();
    return received.at(-1);
  }

  /** What stands at a field besides its name. */
  async function about(name: string): Promise<string> {
    const ids = (await field(name).getAttribute("aria-describedby")) ?? "";
    const texts = ids.split(" ").map((id) => page.locator(`[id="${id}"]`).textContent());
    return (await Promise.all(texts)).join(" ");
  }

  describe.each(ERAS)("in %s", (revision) => {
    it("have a field for each simple kind, and send nothing that was not filled in", async () => {
      await useServer(page, "shapes", revision);
      panel = await chooseTool(page, "words");
      await field("Full name name").fill("Ada");
      await field("age").fill("36");
      await field("size").selectOption("large");
      expect(await sent()).toEqual({ name: "Ada", age: 36, size: "large", version: 3, ratio: 0.5 });

      await field("note").fill("first line\nsecond line");
      await field("day").fill("2026-07-28");
      await field("moment").fill("2026-07-28T12:00:00Z");
      await field("mail").fill("ada@example.com");
      await field("nick is null").check();
      await button("Clear ratio").click();
      await field("agreed").check();
      await field("colour").selectOption("Green");
      await field("card").check();
      await field("box").check();
      await field("anything").fill('{ "deep": [1, null] }');
      expect(await sent()).toEqual({
        name: "Ada",
        note: "first line\nsecond line",
        day: "2026-07-28",
        moment: "2026-07-28T12:00:00Z",
        mail: "ada@example.com",
        nick: null,
        age: 36,
        agreed: true,
        size: "large",
        colour: "g",
        extras: ["card", "box"],
        version: 3,
        anything: { deep: [1, null] },
      });
    });

    it("nest objects, lists, alternatives and conditions", async () => {
      await useServer(page, "shapes", revision);
      panel = await chooseTool(page, "nests");
      await field("street").fill("Main Street");
      await button("Add door").click();
      await field("number").fill("7");
      await fillLists();
      await field("Shape of shape").selectOption("Square");
      await field("side").fill("4");
      await field("Shape of limit").selectOption("string");
      await field("limit").fill("none");
      await button("Add labels").click();
      await field("Name of a new member of labels").fill("team");
      await button("Add member of labels").click();
      await field("team").fill("blue");
      await button("Add tree").click();
      await field("value").fill("root");
      await button("Add item to children").click();
      await field("value").nth(1).fill("leaf");
      expect(await field("digits").count()).toBe(0);
      await field("pays").selectOption("card");
      await field("digits").fill("1234");
      await field("reason").fill("a test");
      expect(await sent()).toEqual({
        home: { street: "Main Street", door: { number: 7 } },
        numbers: [3, 2],
        people: [{ first: "Grace" }],
        place: [60, "N"],
        shape: { kind: "square", side: 4 },
        limit: "none",
        labels: { team: "blue" },
        tree: { value: "root", children: [{ value: "leaf" }] },
        pays: "card",
        digits: "1234",
        reason: "a test",
      });
      await field("Shape of shape").selectOption("Circle");
      await field("radius").fill("1.5");
      await field("pays").selectOption("cash");
      expect(await sent()).toMatchObject({ shape: { kind: "circle", radius: 1.5 }, pays: "cash" });
    });

    /** Numbers that are added, moved and removed; objects in a list; places of different kinds. */
    async function fillLists(): Promise<void> {
      await field("numbers 1").fill("1");
      await button("Add item to numbers").click();
      await button("Add item to numbers").click();
      expect(await button("Add item to numbers").isDisabled()).toBe(true);
      await field("numbers 2").fill("2");
      await field("numbers 3").fill("3");
      await button("Move numbers 3 up").click();
      await button("Remove numbers 1").click();
      expect(await field("numbers 1").inputValue()).toBe("3");
      await button("Add item to people").click();
      await field("first").fill("Grace");
      await button("Add item to place").click();
      await field("place 1").fill("60");
      await button("Add item to place").click();
      await field("place 2").fill("N");
      expect(await button("Add item to place").isDisabled()).toBe(true);
    }

    it("have a side of JSON that says the same, both ways", async () => {
      await useServer(page, "shapes", revision);
      panel = await chooseTool(page, "words");
      await side("JSON").click();
      expect(JSON.parse(await json().inputValue())).toMatchObject({ version: 3 });
      await json().fill('{ "name": "Grace", "age": 1, "size": "small", "version": 3, "unknown": [true] }');
      await side("Form").click();
      expect(await field("Full name name").inputValue()).toBe("Grace");
      expect(await field("size").locator("option:checked").textContent()).toBe("small");
      expect(await field("unknown").inputValue()).toContain("true");
      await field("age").fill("2");
      await side("JSON").click();
      expect(JSON.parse(await json().inputValue())).toMatchObject({ age: 2, unknown: [true] });
      await json().fill('{ "name": "Joan", "age": 3, "size": "large", "version": 3 }');
      expect(await sent()).toEqual({ name: "Joan", age: 3, size: "large", version: 3 });
    });

    it("run nothing while the JSON is broken, and say where it is", async () => {
      await useServer(page, "shapes", revision);
      panel = await chooseTool(page, "words");
      await side("JSON").click();
      await json().fill('{\n  "name": oops\n}');
      await panel.getByText(/^Line 2, column 11: /).waitFor();
      expect(await json().getAttribute("aria-invalid")).toBe("true");
      await expect.poll(() => run().isDisabled()).toBe(true);
      await button("Discard changes").click();
      expect(JSON.parse(await json().inputValue())).toMatchObject({ version: 3 });
      await expect.poll(() => run().isDisabled()).toBe(false);
    });

    it("say at each field what to change, and send what is written all the same", async () => {
      await useServer(page, "shapes", revision);
      await chooseTool(page, "nothing");
      panel = await chooseTool(page, "words");
      await side("JSON").click();
      await json().fill('{ "name": "A", "age": 200, "ratio": 0, "version": 3 }');
      await side("Form").click();
      expect(await field("age").getAttribute("aria-invalid")).toBe("false");
      await run().click();
      await resultOf(page).getByText("The tool reported an error").waitFor();
      for (const [name, issue] of [
        ["Full name name", "Must have at least 2 characters"],
        ["age", "Must be at most 150"],
        ["ratio", "Must be above 0"],
        ["size", "Required"],
      ] as const) {
        expect(await field(name).getAttribute("aria-invalid"), name).toBe("true");
        expect(await about(name), name).toContain(issue);
      }
      expect(await panel.getByText("4 values do not match the schema").count()).toBe(1);
      expect(await field("mail").getAttribute("aria-invalid")).toBe("false");
      await side("JSON").click();
      await panel.getByText("/age Must be at most 150").waitFor();
      await side("Form").click();
      await field("age").fill("12 years");
      expect(await about("age")).toContain("Not a number");
      await field("Full name name").fill("Ada");
      await field("age").fill("12");
      await field("ratio").fill("1");
      await field("size").selectOption("small");
      await expect.poll(() => panel.getByText(/not match the schema/).count()).toBe(0);
      expect(await sent()).toEqual({ name: "Ada", age: 12, size: "small", ratio: 1, version: 3 });
    });

    it("keep the suggestion in sight that the keyboard has reached", async () => {
      await useServer(page, "shapes", revision);
      panel = await openOffers(page, "Prompts");
      await chooseOffer(page, "prompts", "pick");
      await panel.getByRole("combobox", { name: "word" }).focus();
      await page.keyboard.press("ArrowDown");
      const list = panel.getByRole("listbox", { name: "Suggestions for word" });
      await expect.poll(() => list.getByRole("option").count()).toBe(WORDS.length);
      const last = list.getByRole("option", { name: String(WORDS.at(-1)), exact: true });
      const isSeen = async () => {
        const [all, one] = await Promise.all([list.boundingBox(), last.boundingBox()]);
        return all !== null && one !== null && one.y >= all.y && one.y + one.height <= all.y + all.height;
      };
      expect(await isSeen()).toBe(false);
      await page.keyboard.press("ArrowUp");
      await expect.poll(() => last.getAttribute("aria-selected")).toBe("true");
      await expect.poll(isSeen).toBe(true);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+Enter");
      await resultOf(page)
        .getByText(`picked ${WORDS.at(-1)}`)
        .waitFor();
    });

    it("run from the keyboard, also where a tool takes nothing", async () => {
      await useServer(page, "shapes", revision);
      panel = await chooseTool(page, "nothing");
      await panel.getByText("No arguments.").waitFor();
      const before = received.length;
      await run().focus();
      await page.keyboard.press("Control+Enter");
      await expect.poll(() => received.length).toBe(before + 1);
      expect(received.at(-1)).toEqual({});
    });
  });

  it("ask nobody but the inspector, and have no errors", () => {
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
