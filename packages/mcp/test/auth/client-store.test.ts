import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileTokenStore } from "@parley/mcp/login";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { ClientTarget, open } from "./client-target.js";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "auth-client-store-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const fixture = (name: string) => bundleFixture(new URL(`./client-fixtures/${name}.ts`, import.meta.url));

/** Runs a program to its end; `killAfterMs` ends it as a crash would. */
function run(file: string, args: string[], killAfterMs?: number) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  if (killAfterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  return new Promise<string>((resolve) => child.on("close", () => resolve(output)));
}

describe.skipIf(process.platform === "win32")("a token file", () => {
  it("is read by its owner alone, and so is its folder", async () => {
    const path = join(await folder(), "deep", "tokens.json");
    const store = fileTokenStore(path);
    await store.set("a", "1");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
    expect(await store.get("a")).toBe("1");
    await store.delete("a");
    expect(await store.get("a")).toBeUndefined();
    expect(await store.get("toString")).toBeUndefined();
    expect(await readdir(join(path, ".."))).toEqual(["tokens.json"]);
  });

  it.each([0o640, 0o604, 0o660, 0o606, 0o644, 0o666, 0o620])("is refused with mode %o", async (mode) => {
    const path = join(await folder(), "tokens.json");
    const store = fileTokenStore(path);
    await store.set("a", "canary");
    await chmod(path, mode);
    await expect(store.get("a")).rejects.toMatchObject({
      kind: "misuse",
      message: expect.stringContaining("others can read it"),
    });
    await expect(store.set("b", "2")).rejects.toThrow("others can read it");
    expect(await readFile(path, "utf8")).toBe('{"a":"canary"}');
  });

  it.each([0o777, 0o770, 0o722])("is refused in a folder with mode %o", async (mode) => {
    const path = await folder();
    await chmod(path, mode);
    await expect(fileTokenStore(join(path, "tokens.json")).set("a", "1")).rejects.toThrow(
      "others can write to its folder",
    );
    await chmod(path, 0o700);
    expect(await readdir(path)).toEqual([]);
  });

  it("is refused as a symbolic link, whether or not that leads somewhere", async () => {
    const path = await folder();
    await writeFile(join(path, "real"), "{}", { mode: 0o600 });
    for (const [name, to] of [
      ["a", "real"],
      ["b", "nowhere"],
    ] as const) {
      await symlink(join(path, to), join(path, name));
      await expect(fileTokenStore(join(path, name)).get("x")).rejects.toThrow("it is a symbolic link");
      await expect(fileTokenStore(join(path, name)).set("x", "1")).rejects.toThrow("it is a symbolic link");
    }
    expect(await readFile(join(path, "real"), "utf8")).toBe("{}");
  });

  it.each([
    ["torn", '{"a":"1'],
    ["empty", ""],
    ["a list", "[]"],
    ["null", "null"],
  ])("that is %s is refused and not overwritten", async (_name, text) => {
    const path = join(await folder(), "tokens.json");
    await writeFile(path, text, { mode: 0o600 });
    await expect(fileTokenStore(path).get("a")).rejects.toThrow("its content is damaged");
    await expect(fileTokenStore(path).set("a", "1")).rejects.toThrow("its content is damaged");
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("that is a folder, or too large, is refused", async () => {
    const path = await folder();
    await mkdir(join(path, "d"), { mode: 0o700 });
    await expect(fileTokenStore(join(path, "d")).get("a")).rejects.toThrow();
    await writeFile(join(path, "large"), "x".repeat(5_000_000), { mode: 0o600 });
    await expect(fileTokenStore(join(path, "large")).get("a")).rejects.toThrow("it is too large");
  });

  it("that is a pipe is refused at once", async () => {
    const path = join(await folder(), "tokens.json");
    execFileSync("mkfifo", ["-m", "600", path]);
    await expect(fileTokenStore(path).get("a")).rejects.toThrow("it is not a file");
    await expect(fileTokenStore(path).set("a", "1")).rejects.toThrow("it is not a file");
  });

  it("loses no copy of its credentials to a writer that was killed", async () => {
    const path = await folder();
    const store = fileTokenStore(join(path, "tokens.json"));
    const leftover = `tokens.json.4711.${randomUUID()}`;
    const others = ["tokens.json.backup", `other.json.4711.${randomUUID()}`, `tokens.json.x.${randomUUID()}`];
    for (const name of [leftover, ...others]) await writeFile(join(path, name), "canary", { mode: 0o600 });
    await store.set("a", "1");
    expect((await readdir(path)).sort()).toEqual(["tokens.json", ...others].sort());
  });

  it("leaves its lock to the process that took it over while this one slept", async () => {
    const path = join(await folder(), "tokens.json");
    const store = fileTokenStore(path);
    const order: string[] = [];
    let next: Promise<void> | undefined;
    await store.lock?.("x", async () => {
      // As if the machine had slept: the lock looks dead, and another process takes it.
      const past = new Date(Date.now() - 60_000);
      const [lock = ""] = await readdir(join(path, ".."));
      await utimes(join(path, "..", lock), past, past);
      let taken = () => {};
      const isTaken = new Promise<void>((resolve) => {
        taken = resolve;
      });
      let finish = () => {};
      const isFinished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      next = fileTokenStore(path).lock?.("x", async () => {
        order.push("second begins");
        taken();
        await isFinished;
        order.push("second ends");
      });
      await isTaken;
      setTimeout(() => finish(), 100);
    });
    order.push("first has released");
    // The lock is still that of the second.
    await fileTokenStore(path).lock?.("x", async () => void order.push("third"));
    await next;
    expect(order).toEqual(["second begins", "first has released", "second ends", "third"]);
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it("with a lock of the future is free when nobody renews it for half a minute", async () => {
    const path = join(await folder(), "tokens.json");
    await writeFile(`${path}.write`, "", { mode: 0o600 });
    const future = new Date(Date.now() + 86_400_000);
    await utimes(`${path}.write`, future, future);
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    let isSet = false;
    Promise.resolve(fileTokenStore(path).set("a", "1")).then(() => {
      isSet = true;
    });
    let seconds = 0;
    for (; !isSet; seconds++) {
      vi.advanceTimersByTime(1_000);
      // Files are read in real time.
      for (let turn = 0; turn < 20 && !isSet; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seconds).toBeGreaterThanOrEqual(30);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ a: "1" });
  });

  it("holds up nobody who waits for another key, whose changes are kept as well", async () => {
    const path = join(await folder(), "tokens.json");
    const store = fileTokenStore(path);
    await store.lock?.("tokens https://a.example/mcp", async () => {
      for (const other of [store, fileTokenStore(path)])
        await other.lock?.("tokens https://b.example/mcp", async () => other.set("b", "1"));
      await store.set("a", "1");
    });
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ a: "1", b: "1" });
    expect(await readdir(join(path, ".."))).toEqual(["tokens.json"]);
  });

  it("has one registration after logins at two servers of one issuer at once", async () => {
    const [first, second] = [await ClientTarget.start(), await ClientTarget.start()];
    second.behaviour.metadata = { authorization_servers: [first.issuer.issuer] };
    const path = join(await folder(), "tokens.json");
    const login = first.issuer.login();
    await Promise.all([first, second].map((target) => open(target, { oauth: { store: fileTokenStore(path), login } })));
    expect(first.issuer.to("/register")).toHaveLength(1);
  });

  it("is not waited for any longer by a process that gave up", async () => {
    const path = join(await folder(), "tokens.json");
    const given = new AbortController();
    await fileTokenStore(path).lock?.("x", async () => {
      const waiting = fileTokenStore(path).lock?.("x", async () => expect.unreachable(), given.signal);
      given.abort(new Error("given up"));
      await expect(waiting).rejects.toThrow("given up");
    });
  });

  it("keeps the change of every process", async () => {
    const path = join(await folder(), "tokens.json");
    const program = await fixture("writing-program");
    await Promise.all(["a", "b"].map((name) => run(program, [path, name, "20"])));
    expect(Object.keys(JSON.parse(await readFile(path, "utf8")))).toHaveLength(40);
  });

  it("lets one process at a time hold its lock", async () => {
    const path = join(await folder(), "tokens.json");
    const program = await fixture("writing-program");
    await Promise.all(["a", "b"].map((name) => run(program, [path, name, "15", "shared"])));
    expect(await fileTokenStore(path).get("counter")).toBe("30");
  });

  it("is whole after a crash, at whatever time", async () => {
    const path = join(await folder(), "tokens.json");
    const program = await fixture("writing-program");
    await fileTokenStore(path).set("first", "1");
    for (const ms of [60, 120, 180]) {
      await run(program, [path, String(ms), "100000"], ms);
      expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ first: "1" });
      // A lock without an owner is taken over after a while, here at once.
      const past = new Date(Date.now() - 60_000);
      await utimes(`${path}.write`, past, past).catch(() => {});
      await fileTokenStore(path).set("after", String(ms));
    }
    expect(await fileTokenStore(path).get("after")).toBe("180");
  });

  it("does not take over a lock whose owner lives", async () => {
    const path = join(await folder(), "tokens.json");
    const store = fileTokenStore(path);
    const order: string[] = [];
    let taken = false;
    const first = store.lock?.("x", async () => {
      taken = true;
      await new Promise((resolve) => setTimeout(resolve, 200));
      order.push("first");
    });
    await expect.poll(() => taken).toBe(true);
    await fileTokenStore(path).lock?.("x", async () => void order.push("second"));
    await first;
    expect(order).toEqual(["first", "second"]);
  });

  it("P6, AUTHC-04: two processes with one expired token make one token call, and all forty requests succeed", async () => {
    const ended = new Set<string | undefined>([undefined]);
    const target = await ClientTarget.start(
      { admit: (authorization) => (ended.has(authorization) ? 401 : 200) },
      { rotates: true },
    );
    const path = join(await folder(), "tokens.json");
    const store = fileTokenStore(path);
    await open(target, { oauth: { store } });
    const record = JSON.parse(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`)));
    ended.add(`Bearer ${record.accessToken}`);
    const before = target.issuer.to("/token").length;
    const program = await fixture("sharing-client");
    const outputs = await Promise.all([1, 2].map(() => run(program, [target.url, path])));
    expect(outputs.map((text) => text.trim())).toEqual(["20", "20"]);
    expect(target.issuer.to("/token").length - before).toBe(1);
    expect(target.issuer.replays).toBe(0);
  });
});
