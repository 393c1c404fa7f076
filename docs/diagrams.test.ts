import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const read = (page: string) => readFileSync(join(root, "docs", page), "utf8");
const diagramsOf = (page: string) =>
  [...read(page).matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);

/** What a box may be called without being a folder or a file. */
const OUTSIDE = /^(user|agent|@parley|servers of|clients of|your )/;

describe("the diagrams", () => {
  it("show the library at four distances", () => {
    const levels = [...read("diagrams.md").matchAll(/^## Level (\d)/gm)].map(([, level]) => level);
    expect(levels).toEqual(["1", "2", "3", "4"]);
  });

  it.each(diagramsOf("diagrams.md").map((text, at) => [at + 1, text] as const))(
    "name folders and files that exist: level %i",
    (_level, text) => {
      const labels = [...text.matchAll(/[[(]"?([^[\]()"]+)"?[\])]/g)].map(([, label = ""]) => label);
      const paths = labels.filter((label) => !OUTSIDE.test(label)).flatMap((label) => label.split(" or "));
      expect(labels.length).toBeGreaterThan(3);
      expect(paths.filter((path) => !existsSync(join(root, "packages/mcp/src", path)))).toEqual([]);
    },
  );

  // A diagram with a broken line is shown as an error, and nobody sees it before it is published.
  it.each(["diagrams.md", "protocol.md"])("of %s consist of arrows between boxes that are declared", (page) => {
    for (const text of diagramsOf(page)) {
      const [kind = "", ...lines] = text.trimEnd().split("\n");
      expect(kind).toMatch(/^(flowchart (LR|TD)|sequenceDiagram)$/);
      const form =
        kind === "sequenceDiagram"
          ? /^ {2}(participant \w+ as \w+|\w+--?>>\w+: \S.*)$/
          : /^ {2}\w+(\S.*)? (---|-->|-\.->)(\|[^|]+\|)? \w+.*$/;
      expect(lines.filter((line) => !form.test(line))).toEqual([]);
    }
  });
});

describe("the duties of implementers", () => {
  it.each(["User consent", "Data privacy", "Tool safety", "Sampling control"])("%s is a list to check", (duty) => {
    const section =
      read("security.md")
        .split(/^## /m)
        .find((text) => text.startsWith(duty)) ?? "";
    expect(section.match(/^- \[ \] /gm)?.length ?? 0).toBeGreaterThanOrEqual(3);
  });
});

describe("the glossary", () => {
  it("is sorted, and has every word that titles a guide", () => {
    const words = [...read("glossary.md").matchAll(/^\| ([\w ]+) \| /gm)].map(([, word = ""]) => word).slice(1);
    expect(words).toEqual(words.toSorted());
    const singular = (title: string) => title.toLowerCase().replace(/s$/, "");
    const features = readdirSync(join(root, "docs"), { encoding: "utf8" }).filter((name) =>
      /^(clients|prompts|questions|resources|tools|transports)\.md$/.test(name),
    );
    expect(features.map((name) => singular(name.slice(0, -3))).filter((word) => !words.includes(word))).toEqual([]);
  });
});
