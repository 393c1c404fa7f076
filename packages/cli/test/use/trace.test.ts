import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { ServingParley } from "../run/serving-parley.js";

const module = fileURLToPath(new URL("../fixtures/traced-server.mjs", import.meta.url));

/** The lines of the trace, without their times. */
function layers(stderr: string): string[] {
  const lines = stderr.split("\n").filter((line) => /^ *\+[\d.]+ ms /.test(line));
  const column = lines[0]?.indexOf("client call") ?? 0;
  return lines.map((line) => line.slice(column));
}

/** How the lines of a server are indented below the transport that led to them. */
const serverCall = (outcome: string, ...inTool: string[]): string[] => [
  `      server call tools/call greet: ${outcome}`,
  "        server middleware audit",
  "          server handler tools/call",
  "            server arguments",
  "            server tool greet",
  ...inTool,
];

function request(line: string, era: string, transport: string, within: readonly string[]): string[] {
  return [`  client request ${line}`, `    client era ${era}`, `    client transport ${transport}`, ...within];
}

/** The layers of the call in one era; those of the server where it runs in this process. */
function expected(era: string, transport: string, isHere: boolean): string[] {
  const ofServer = (lines: readonly string[]) => (isHere ? lines : []);
  const [call, progress] = ["client call tools/call greet: ok", "      client progress 1 of 2: asking"];
  const result = "            server result";
  if (era === "2026-07-28") {
    const asked = [...ofServer(serverCall("input_required")), progress];
    return [
      call,
      ...request("3: input_required", era, transport, asked),
      "  client answers elicitation/create",
      ...request("4: ok", era, transport, [...ofServer(serverCall("ok", result)), progress]),
    ];
  }
  const question = "              server question elicitation/create: ok";
  const asked = [
    ...ofServer(serverCall("ok", question, result)),
    progress,
    "      client answer elicitation/create: ok",
  ];
  return [call, ...request("3: ok", era, transport, asked)];
}

describe.each(["2026-07-28", "2025-11-25"])("parley call --trace in %s", (era) => {
  const run = (words: readonly string[], program: readonly string[] = []) =>
    runParley(["call", ...words, "greet", "-a", "name=Ada", "--trace", "--revision", era, ...program]);

  it("prints the layers of a module on both sides", async () => {
    const { code, stdout, stderr } = await run([module]);
    expect(layers(stderr)).toEqual(expected(era, "in this process", true));
    expect(stdout).toBe("hello Ada\n");
    expect(code).toBe(0);
  });

  it("prints those of the client for a server at a URL", async () => {
    await using serving = new ServingParley(["run", module, "--http", "0"]);
    const { stdout, stderr } = await run([await serving.url()]);
    expect(layers(stderr)).toEqual(expected(era, "http", false));
    expect(stdout).toBe("hello Ada\n");
  });

  it("prints those of the client for a program", async () => {
    const { stdout, stderr } = await run([], ["--", process.execPath, module, "--stdio"]);
    expect(layers(stderr)).toEqual(expected(era, "pipe", false));
    expect(stdout).toBe("hello Ada\n");
  });
});
