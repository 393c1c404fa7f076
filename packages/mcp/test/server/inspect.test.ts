import { Server } from "@parley/mcp";
import { rolldown } from "rolldown";
import { afterEach, expect, it, vi } from "vitest";
import { platform } from "../../src/platform/default.js";

const opened = vi.hoisted(() => [] as unknown[][]);
const handle = { url: "http://127.0.0.1:1/", close: async () => {} };

vi.mock("@parley/inspector", () => ({
  inspect: async (...args: unknown[]) => {
    opened.push(args);
    return handle;
  },
}));

afterEach(() => {
  opened.splice(0);
  vi.unstubAllEnvs();
});

const makeServer = (options: ConstructorParameters<typeof Server>[1] = {}) =>
  new Server({ name: "inspected", version: "1" }, options);

it("opens the inspector of the optional package on the server itself, with the options", async () => {
  const server = makeServer();
  expect(await server.inspect({ port: 4321, open: false })).toBe(handle);
  expect(await server.inspect()).toBe(handle);
  expect(opened).toEqual([
    [server, { port: 4321, open: false }],
    [server, {}],
  ]);
});

it("refuses in production, and says why", async () => {
  vi.stubEnv("NODE_ENV", "production");
  const refused = makeServer().inspect();
  await expect(refused).rejects.toMatchObject({ kind: "misuse", fix: expect.stringContaining("development") });
  await expect(refused).rejects.toThrow("can use everything that the server offers");
  expect(opened).toEqual([]);
});

it("names the package where it is not installed", async () => {
  vi.resetModules();
  vi.doMock("@parley/inspector", () => {
    throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  });
  await expect(makeServer().inspect()).rejects.toMatchObject({
    kind: "unsupported",
    fix: expect.stringContaining("npm install --save-dev @parley/inspector"),
  });
});

it("says that it needs Node on a runtime that has no inspector", async () => {
  const refused = makeServer({ platform: { ...platform, inspect: undefined } }).inspect();
  await expect(refused).rejects.toMatchObject({ kind: "unsupported", message: "the inspector needs Node" });
});

it("is no import that a bundler could follow, minified or not", async () => {
  const seen: string[] = [];
  const build = await rolldown({
    input: new URL("../../src/node/inspect-server.ts", import.meta.url).pathname,
    tsconfig: false,
    platform: "node",
    plugins: [{ name: "see", resolveId: (id) => void seen.push(id) }],
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  await build.close();
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.filter((id) => id.includes("inspector"))).toEqual([]);
  expect(output[0].code).not.toMatch(/import\(\s*(?:\/\*.*?\*\/\s*)*["'`]/);
});
