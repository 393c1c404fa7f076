import { describe, expect, it } from "vitest";
import { expandTemplate } from "../../../mcp/src/uri-template/expand.js";
import { templateUri, templateVariables } from "../../page/use/template-uri.js";

const values = {
  id: "today",
  path: "/a b/c",
  empty: "",
  city: "Tromsø & Bodø",
  marks: "!'()*",
  encoded: "50%25",
  emoji: "👋🏽x",
};

describe("the URI of a template", () => {
  it.each([
    "note://{id}",
    "file://{+path}",
    "file://x{/id,path}",
    "s://q{?id,city}",
    "s://q?a=1{&id,empty}",
    "s://q{;id,empty}",
    "s://q{?empty}",
    "s://q{#path}",
    "s://q{.id}",
    "s://{city:3}",
    "s://{marks}",
    "s://{+encoded}/{encoded}",
    "s://{+marks}{+city}",
    "s://{emoji:1}/{+emoji}",
    "s://{none}/{id,none}",
    "s://q{?none}",
    "s://q{?id*}",
    "plain://x",
  ])("is that of RFC 6570 for %s", (template) => {
    // The library's own, which is held to the examples of the RFC; the page cannot import it.
    expect(templateUri(template, values)).toBe(expandTemplate(template, values));
  });

  it("takes members of the prototype for no values", () => {
    expect(templateUri("s://{toString}/{constructor}", {})).toBe("s:///");
  });

  it("survives halves of pairs and braces without an end", () => {
    expect(templateUri("s://{a}", { a: "\ud83d" })).toBe("s://%EF%BF%BD");
    expect(templateUri("s://{a", { a: "x" })).toBe("s://{a");
  });
});

describe("the variables of a template", () => {
  it("are found once each, with those that may be left out", () => {
    expect(templateVariables("repo://{owner}/{+path}{?page,owner,tags*}{name:3}")).toEqual([
      { name: "owner", optional: false },
      { name: "path", optional: false },
      { name: "page", optional: true },
      { name: "tags", optional: true },
      { name: "name", optional: false },
    ]);
  });

  it("are no more than a form can show", () => {
    const template = Array.from({ length: 500 }, (_, index) => `{v${index}}`).join("");
    expect(templateVariables(template)).toHaveLength(100);
  });
});
