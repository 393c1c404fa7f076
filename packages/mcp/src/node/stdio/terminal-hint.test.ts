import { describe, expect, it } from "vitest";
import { terminalHint } from "./terminal-hint.js";

/** The command that the hint shows for a program that was started like this. */
function shown(launch: Partial<Parameters<typeof terminalHint>[1]>): string | undefined {
  const usual = {
    execPath: "/usr/bin/node",
    execArgv: [],
    argv: ["node", "/home/x/main.js"],
    platform: "linux",
  } as const;
  const hint = terminalHint(undefined, {
    ...usual,
    argv: [...usual.argv],
    execArgv: [],
    cwd: () => "/home/x",
    ...launch,
  });
  return /inspect -- (.*)/.exec(hint)?.[1];
}

describe("the command in the hint", () => {
  it("has the path from the current folder, or the whole path of a program elsewhere", () => {
    expect(shown({})).toBe("node main.js");
    expect(shown({ cwd: () => "/home" })).toBe("node x/main.js");
    expect(shown({ cwd: () => "/home/y" })).toBe("node /home/x/main.js");
  });

  it("has the options of the runtime and the arguments of the program", () => {
    const argv = ["node", "/home/x/main.ts", "--port", "$HOME"];
    expect(shown({ execArgv: ["--import", "tsx"], argv })).toBe("node --import tsx main.ts --port '$HOME'");
    expect(shown({ execArgv: ["-e", "go()"], argv: ["node"] })).toBe("node -e 'go()'");
  });

  it("is quoted for the system's shell", () => {
    const argv = ["node.exe", "/home/x/main.js", "C:\\a", "b c", 'd"e'];
    expect(shown({ platform: "win32", execPath: "/n/node.exe", argv })).toBe('node main.js C:\\a "b c" "d\\"e"');
    expect(shown({ argv: ["node", "/home/x/a b.js", "\u001b[2J"] })).toBe("node 'a b.js' '\\u001b[2J'");
  });
});

describe("the first line of the hint", () => {
  it.each([
    [undefined, "This program is an MCP server."],
    [{ name: "n", version: "1" }, "n 1 is an MCP server."],
    [{ name: "n", version: "1", title: "T\u001b[2J\nx" }, "T\\u001b[2J\\nx 1 is an MCP server."],
  ])("names %j", (info, start) => {
    expect(terminalHint(info).startsWith(start)).toBe(true);
  });
});
