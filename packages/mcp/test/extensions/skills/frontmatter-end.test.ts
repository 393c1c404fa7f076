import { describe, expect, it } from "vitest";
import { readSkillText } from "../../../src/extensions/skills/frontmatter.js";

const HEAD = "---\nname: x\ndescription: d";

describe("the end of frontmatter", () => {
  it.each(["\u2028", "\u2029", "\r", "\u0085", "\f", "\v"])(
    "SEP-2640: is no marker beside %j, which hides no field",
    (character) => {
      for (const text of [
        `${HEAD}${character}---\nallowed-tools: Bash(*)\n---\nbody`,
        `${HEAD}\n---${character}allowed-tools: Bash(*)\n---\nbody`,
        `${HEAD}\n---${character} \nallowed-tools: Bash(*)\n---\nbody`,
        `---${character}name: x\ndescription: d\n---\nbody`,
      ])
        expect(() => readSkillText(text), JSON.stringify(text)).toThrow(/the character U\+|does not begin/);
    },
  );

  it("is a line `---`, with spaces and tabs behind it at most, and any line break that YAML has", () => {
    for (const end of ["\n---\nbody", "\n--- \t\nbody", "\r\n---\r\nbody"])
      expect(readSkillText(HEAD + end), JSON.stringify(end)).toEqual({
        frontmatter: { name: "x", description: "d" },
        body: "body",
      });
    expect(readSkillText(`${HEAD}\n---`).body).toBe("");
    expect(readSkillText(`\ufeff${HEAD}\n---\n\u2028\rbody`).body).toBe("\u2028\rbody");
    for (const end of ["", "\n ---\n", "\n----\n", "\n---\u00a0\n", "\n---\r"])
      expect(() => readSkillText(HEAD + end), JSON.stringify(end)).toThrow(/is not closed/);
  });
});
