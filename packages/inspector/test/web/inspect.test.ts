import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bundleInspector } from "../kit/bundled-inspector.js";
import { actionHeaders, keysOf } from "../kit/inspector-keys.js";
import { requestText, sendRaw } from "../kit/raw-http.js";

it("inspects a server of a program in its own process, and ends with it", async () => {
  const path = await bundleInspector(fileURLToPath(new URL("./inspected-program.ts", import.meta.url)));
  const program = spawn(process.execPath, [path], { stdio: "pipe" });
  const ended = once(program, "close");
  let stdout = "";
  program.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  const [line] = await once(createInterface({ input: program.stderr }), "line");
  const [, url = ""] = /^inspector: (http:\S+)$/.exec(line) ?? [];
  const keys = await keysOf(url);
  const input = JSON.stringify({ connection: "c1", kind: "tools" });
  const headers = [...actionHeaders(keys), `Content-Length: ${input.length}`];
  const list = async () => (await sendRaw(keys.port, requestText("POST", "/api/list", headers, input))).body;
  await expect.poll(list, { timeout: 20_000 }).toContain('"name":"hello"');
  program.stdin.end();
  expect(await ended).toEqual([0, null]);
  expect(stdout).toBe("closed\n");
});
