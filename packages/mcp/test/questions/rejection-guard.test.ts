import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";

let program: string;

beforeAll(async () => {
  program = await bundleFixture(new URL("./fixtures/dropped-promises.ts", import.meta.url));
});

function run(mode: string, flags: readonly string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program, mode], {
    encoding: "utf8",
    timeout: 15_000,
  });
  return { status, lines: stdout.trim().split("\n"), stderr };
}

describe("promises that a handler derives from questions and drops", () => {
  it("do not end the process", () => {
    expect(run("none")).toEqual({ status: 0, lines: ["done", "alive"], stderr: "" });
  });

  it("do not keep faults of the program from ending it, with Node's own message and code", () => {
    const bare = spawnSync(process.execPath, ["-e", 'Promise.reject(new Error("a fault of the program"))'], {
      encoding: "utf8",
    });
    const { status, lines, stderr } = run("foreign");
    expect(lines).toEqual(["done", "alive"]);
    expect(status).toBe(bare.status);
    expect(status).toBe(1);
    expect(stderr).toContain("Error: a fault of the program");
    const value = run("foreign-value");
    expect(value.status).toBe(1);
    expect(value.stderr).toContain("ERR_UNHANDLED_REJECTION");
  });

  it("leave the program's own listeners and flags in charge", () => {
    expect(run("own-listener").lines).toEqual(["done", "alive", "heard mine", "survived"]);
    expect(run("uncaught").lines).toEqual([
      "done",
      "alive",
      "unhandledRejection: first",
      "unhandledRejection: second",
      "survived",
    ]);
    const warned = run("foreign", ["--unhandled-rejections=warn"]);
    expect(warned).toMatchObject({ status: 0, lines: ["done", "alive", "survived"] });
    expect(warned.stderr).toContain("UnhandledPromiseRejectionWarning");
  });
});
