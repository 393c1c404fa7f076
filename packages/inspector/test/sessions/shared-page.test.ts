import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { inertJson, type SharedPageAssets, sharedPage } from "../../src/sessions/share-session.js";

function htmlOf(parts: SharedPageAssets): string {
  const { before, after } = sharedPage(parts);
  return `${before}{}${after}`;
}

describe("a shared page", () => {
  it("holds a session that no parser takes for markup", () => {
    const text = "</script><script>alert(1)</script><!-- \u2028\u2029 <img src=x onerror=alert(1)>";
    const json = inertJson(JSON.stringify({ text }));
    expect(json).not.toMatch(/[<\u2028\u2029]/);
    expect(JSON.parse(json)).toEqual({ text });
  });

  it("cannot be ended by its own script or style", () => {
    const script = 'const end = "</script>", open = "<!--<SCRIPT >";\r\nconst pattern = /<\\/script/;';
    const html = htmlOf({ script, style: 'a::after { content: "</style>" }' });
    expect(html.match(/<\/script>/gi)).toHaveLength(2);
    expect(html.match(/<script[\s>]/gi)).toHaveLength(2);
    expect(html.match(/<\/style>/gi)).toHaveLength(1);
    expect(html).toContain('<script type="application/json" id="shared-session">{}</script>');
    const [, inlined = ""] = /<script type="module">(.*?)<\/script>/s.exec(html) ?? [];
    const values = new Function(`${inlined} return [end, open];`)() as string[];
    expect(values).toEqual(["</script>", "<!--<SCRIPT >"]);
  });

  it("lets only its own script and style run", () => {
    const html = htmlOf({ script: "let a = 1;\r\n", style: "p { color: red }" });
    const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    expect(policy?.split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${digest("let a = 1;\n")}`,
      `style-src ${digest("p { color: red }")}`,
      "img-src data:",
      "media-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(html.indexOf("Content-Security-Policy")).toBeLessThan(html.indexOf("<style>"));
  });
});
