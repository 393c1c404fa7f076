import { describe, expect, it } from "vitest";
import { templateUri, templateVariables } from "../../page/use/template-uri.js";

describe("the URI of a template", () => {
  it("leaves out variables without a text, and members of the prototype", () => {
    expect(templateUri("s://{id}{?page}", { id: "a b" })).toBe("s://a%20b");
    expect(templateUri("s://{toString}/{constructor}", {})).toBe("s:///");
  });

  it("is the template itself where that is not valid", () => {
    expect(templateUri("s://{a", { a: "x" })).toBe("s://{a");
    expect(templateVariables("s://{a")).toEqual([]);
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
    const template = Array.from({ length: 120 }, (_, index) => `{v${index}}`).join("");
    expect(templateVariables(template)).toHaveLength(100);
  });
});
