import { describe, expect, expectTypeOf, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import { isPromptTemplate, type PlaceholderNames, promptTemplate } from "./template.js";

describe("prompt templates", () => {
  it("fill in what they name, once, and leave everything else alone", () => {
    const render = promptTemplate("Dear {{name}},\n{ {x} } {{ name }} {{a.b-c}}!");
    expect(render.placeholders).toEqual(["name", "a.b-c"]);
    expect(render({ name: "{{a.b-c}}", "a.b-c": "$& $1" })).toBe("Dear {{a.b-c}},\n{ {x} } {{a.b-c}} $& $1!");
    expect(render({ name: "N" })).toBe("Dear N,\n{ {x} } N !");
  });

  it("know no names but their own, whatever objects inherit", () => {
    expect(promptTemplate("{{constructor}}{{__proto__}}|")({} as never)).toBe("|");
  });

  it("keep braces that are escaped", () => {
    const render = promptTemplate("write \\{{name}} for {{name}}");
    expect(render({ name: "x" })).toBe("write {{name}} for x");
    expect(render.placeholders).toEqual(["name"]);
  });

  it("that are not valid are refused, with the line", () => {
    for (const text of ["{{", "a\n{{b", "{{}}", "{{a b}}", "{{a{{b}}", "{{{a}}}"]) {
      expect(() => promptTemplate(text), text).toThrow(McpError);
    }
    expect(() => promptTemplate("one\ntwo {{")).toThrow(/line 2/);
  });

  it("are recognised, and typed by their text", () => {
    expect(isPromptTemplate(promptTemplate("x"))).toBe(true);
    expect(isPromptTemplate(() => "x")).toBe(false);
    expectTypeOf<PlaceholderNames<"a {{x}} b {{ y }}">>().toEqualTypeOf<"x" | "y">();
    expectTypeOf<PlaceholderNames<string>>().toEqualTypeOf<string>();
  });
});
