import { describe, expect, it } from "vitest";
import {
  looksLikeMarkdown,
  MAX_MARKDOWN_LENGTH,
  markdownTokens,
  withoutEntities,
} from "../../page/results/markdown-tokens.js";

describe("the parts of a Markdown text", () => {
  it("are found, down to the words", () => {
    const tokens = markdownTokens("# One\n\nSome **bold** text\r\n\r\n- a\n- b\n");
    expect(tokens?.map(({ type }) => type)).toEqual(["heading", "space", "paragraph", "space", "list"]);
    expect(JSON.stringify(tokens)).toContain('"type":"strong"');
  });

  it("have the box of a task before its words, and not among them", () => {
    const text = JSON.stringify(markdownTokens("- [ ] open\n- [x] done\n"));
    expect(text).toMatch(/"type":"checkbox".*"text":"open"/);
    expect(text).not.toMatch(/"type":"text","raw":"\[ \] open","text":"\[ \] open","escaped"/);
  });

  it("are not looked for in a text that is too long, or in lines that are", () => {
    expect(markdownTokens("a ".repeat(MAX_MARKDOWN_LENGTH / 2 + 1))).toBeUndefined();
    expect(markdownTokens("a".repeat(20_001))).toBeUndefined();
    expect(markdownTokens("short lines\n\n".repeat(10_000))).toBeDefined();
  });

  it("are not looked for below a depth that ends the stack", () => {
    expect(() => markdownTokens(">".repeat(19_999))).not.toThrow();
  });

  it.each([
    ["stars", "*a "],
    ["links", "[a]("],
    ["underscores", "_a"],
    ["ticks", "`a``b```"],
    ["brackets", "["],
    ["pictures", "!["],
    ["comments", "<!--"],
  ])("leave a paragraph alone that is made of %s, which would take too long", (_name, piece) => {
    const [paragraph] = markdownTokens(`x ${piece.repeat(Math.floor(19_000 / piece.length))}`) ?? [];
    const words = paragraph?.type === "paragraph" ? (paragraph.tokens ?? []) : [];
    expect(words.map(({ type }) => type)).toEqual(["text"]);
  });

  it("end with the time that all paragraphs may take", () => {
    let at = 0;
    const tokens = markdownTokens("**a**\n\n".repeat(10), () => (at += 30));
    const bold = JSON.stringify(tokens).split('"strong"').length - 1;
    expect(bold).toBeGreaterThan(0);
    expect(bold).toBeLessThan(10);
  });

  it("hold HTML as text of its own kind", () => {
    const tokens = markdownTokens("<script>alert(1)</script>\n\nan <img src=x onerror=alert(1)> inline");
    expect(tokens?.[0]?.type).toBe("html");
    expect(JSON.stringify(tokens?.at(-1))).toContain('"type":"html"');
  });
});

describe("Markdown", () => {
  it.each([
    "# Title",
    "a\n```\ncode\n```",
    "- a\n- b",
    "1. a\n2. b",
    "some **bold** word",
    "[a](https://example.com)",
    "| a |\n|---|\n| b |",
    "> quoted",
  ])("is told from plain text: %j", (text) => {
    expect(looksLikeMarkdown(text)).toBe(true);
  });

  it.each(["plain", "2 * 3 * 4 = 24", "a - b", "#hashtag", "path_to_file_name", "{}", "", "[1](2)", "x > y"])(
    "is not seen in %j",
    (text) => {
      expect(looksLikeMarkdown(text)).toBe(false);
    },
  );

  it("loses the common entities, once", () => {
    expect(withoutEntities("&lt;b&gt; &amp;amp; &quot;&#39;&nbsp;&copy;")).toBe("<b> &amp; \"'\u00a0&copy;");
  });
});
