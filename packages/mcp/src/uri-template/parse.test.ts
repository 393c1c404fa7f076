import { describe, expectTypeOf, it } from "vitest";
import type { TemplateVariables } from "./parse.js";

describe("variables typed from a template string", () => {
  it("are required where a match always has them, and optional where a URI may lack them", () => {
    expectTypeOf<TemplateVariables<"repo://{owner}/{name}{?page,limit}">>().toEqualTypeOf<{
      owner: string;
      name: string;
      page?: string;
      limit?: string;
    }>();
    expectTypeOf<TemplateVariables<"x:{+path}{/a}{.b}{#c}{;d}{&e}">>().toEqualTypeOf<{
      path: string;
      a?: string;
      b?: string;
      c?: string;
      d?: string;
      e?: string;
    }>();
  });

  it("are lists where they explode, and lose their prefix", () => {
    expectTypeOf<TemplateVariables<"x:{a:3,b*}{?tags*,q:10}">>().toEqualTypeOf<{
      a: string;
      b: string[];
      tags?: string[];
      q?: string;
    }>();
  });

  it("are none for a fixed URI, and any for a string that is not known", () => {
    // biome-ignore lint/complexity/noBannedTypes: the empty object is the expected type.
    expectTypeOf<TemplateVariables<"x://fixed">>().toEqualTypeOf<{}>();
    expectTypeOf<TemplateVariables<string>>().toEqualTypeOf<Record<string, string | string[] | undefined>>();
  });
});
