import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleParley } from "../../../cli/test/kit/bundle-parley.js";
import type { CopiedRequest } from "../../src/copy/copied-request.js";
import { copyAsCommand } from "../../src/copy/copy-as-command.js";
import { copiedFrom, HOSTILE_ARGUMENTS } from "./copied-calls.js";
import { AUTHORIZATION, type EchoServer, startEchoServer } from "./echo-server.js";
import { runLines, SHELLS } from "./run-lines.js";

const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

function request(method: string, params: object, rest: Partial<CopiedRequest> = {}): CopiedRequest {
  return {
    message: { jsonrpc: "2.0", id: 1, method, params },
    target: { kind: "module", shown: "./server.ts" },
    revision: undefined,
    ...rest,
  };
}

describe("a request that is copied as a command of parley", () => {
  let server: EchoServer;
  let folder: string;
  const run = (shell: string, line: string) =>
    runLines(shell, line, { AUTHORIZATION, PATH: `${folder}:${process.env["PATH"]}`, NO_PROXY: "*" });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-command-"));
    const program = join(folder, "parley");
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${await bundleParley()}' "$@"\n`);
    chmodSync(program, 0o755);
    server = await startEchoServer();
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it.each(REVISIONS)("calls the same tool with the same arguments in %s, in every shell", async (revision) => {
    const copied = await copiedFrom(server, revision, (client) => client.callTool("echo", HOSTILE_ARGUMENTS));
    const original = server.asked.splice(0);
    const line = copyAsCommand(copied);
    expect(line).not.toContain("s3cr3t");
    expect(line).toMatch(
      new RegExp(
        `^parley call ${server.url} echo '.*' --revision ${revision} -H "authorization: \\$AUTHORIZATION" -H `,
      ),
    );
    for (const shell of SHELLS) {
      expect(await run(shell, line), shell).toContain("kept");
      expect(server.asked.splice(0), shell).toEqual(original);
      expect(server.lastHeaders()["x-team"]).toBe('it\'s "us" $HOME');
    }
  });

  it.each(REVISIONS)("reads, completes, lists and takes long or hostile texts in %s", async (revision) => {
    const named = await copiedFrom(server, revision, (client) => client.callTool('it\'s $(one) "tool"'));
    expect(await run("sh", copyAsCommand(named))).toContain("kept");
    const long = { text: "it's ".repeat(100_000) };
    const longest = await copiedFrom(server, revision, (client) => client.callTool("echo", long));
    expect(await run("sh", copyAsCommand(longest))).toContain("kept");
    expect(server.asked.splice(0)).toEqual(["hostile name", "hostile name", long, long]);
    const note = await copiedFrom(server, revision, (client) => client.readResource("note://it's"));
    expect(await run("sh", copyAsCommand(note))).toBe("note it's\n");
    const name = "it's $(me)\n@you";
    const prompt = await copiedFrom(server, revision, (client) => client.getPrompt("greet", { name }));
    server.asked.length = 0;
    await run("sh", copyAsCommand(prompt));
    expect(server.asked.splice(0)).toEqual([name]);
    const completion = await copiedFrom(server, revision, (client) =>
      client.complete({ prompt: "greet" }, { name: "name", value: "A" }, { other: "@it's" }),
    );
    expect(await run("sh", copyAsCommand(completion))).toBe("Ada\nAlan\n");
    const tools = await copiedFrom(server, revision, (client) => client.listTools());
    expect(await run("sh", copyAsCommand(tools))).toContain("Keeps its arguments");
  });

  it.each<[string, CopiedRequest]>([
    ["parley list ./server.ts templates", request("resources/templates/list", {})],
    ["parley call ./server.ts add", request("tools/call", { name: "add", arguments: {}, _meta: { progressToken: 1 } })],
    [
      `parley call ./server.ts add '{"a":1}' --task`,
      request("tools/call", { name: "add", arguments: { a: 1 }, task: {} }),
    ],
    ["parley read ./server.ts 'note://a b'", request("resources/read", { uri: "note://a b" })],
    ["parley subscribe ./server.ts note://a", request("resources/subscribe", { uri: "note://a" })],
    ["parley ping ./server.ts --count 1 --revision 2025-06-18", request("ping", {}, { revision: "2025-06-18" })],
    ["parley info ./server.ts", request("initialize", {})],
    [
      "parley complete ./server.ts 'note://{id}' id '' day=@@mon",
      request("completion/complete", {
        ref: { type: "ref/resource", uri: "note://{id}" },
        argument: { name: "id", value: "" },
        context: { arguments: { day: "@mon" } },
      }),
    ],
    [
      "parley list tools -- node 'a b.js' --flag '$x'",
      request(
        "tools/list",
        {},
        { target: { kind: "command", shown: "-- node a.js", command: ["node", "a b.js", "--flag", "$x"] } },
      ),
    ],
    [
      "parley list everything tools",
      request("tools/list", {}, { target: { kind: "command", shown: "everything", command: ["node", "a.js"] } }),
    ],
    [
      "parley list remote tools",
      request(
        "tools/list",
        {},
        {
          target: { kind: "url", shown: "remote", url: "https://a/mcp" },
          headers: { authorization: "Bearer x" },
        },
      ),
    ],
    [
      "parley list tools -- parley replay 'my session.jsonl' --stdio",
      request("tools/list", {}, { target: { kind: "file", shown: "my session.jsonl" } }),
    ],
  ])("is written as %s", (line, copied) => expect(copyAsCommand(copied)).toBe(line));

  it.each<[string, CopiedRequest]>([
    ["a method without a command", request("logging/setLevel", { level: "info" })],
    ["a method that would end the comment", request("a\nrm -rf /", {})],
    ["a name that is an option", request("tools/call", { name: "--help" })],
    ["a name with NUL", request("tools/call", { name: "a\0b" })],
    ["a name that ends a paste", request("tools/call", { name: "a\u001b[201~\nid\n" })],
    ["a name that is none", request("tools/call", { name: 5 })],
    ["arguments that are none", request("tools/call", { name: "a", arguments: [1] })],
    ["a URI that is an option", request("resources/read", { uri: "-x" })],
    [
      "a prompt that looks like a template",
      request("completion/complete", { ref: { type: "ref/prompt", name: "{a}" }, argument: { name: "a", value: "" } }),
    ],
    [
      "a settled argument without a plain name",
      request("completion/complete", {
        ref: { type: "ref/prompt", name: "a" },
        argument: { name: "a", value: "" },
        context: { arguments: { "a=b": "c" } },
      }),
    ],
    ["a server of a program", request("tools/list", {}, { target: { kind: "server", shown: "server" } })],
    ["a target that is an option", request("tools/list", {}, { target: { kind: "module", shown: "--help.ts" } })],
    ["a target with an escape", request("tools/list", {}, { target: { kind: "module", shown: "a\u001b.ts" } })],
  ])("is a comment of one line for %s", (_name, copied) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(copyAsCommand(copied)).toMatch(/^# [^\0-\x1f\x7f-\x9f]+\.$/);
  });
});
