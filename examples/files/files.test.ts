import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveFolder } from "./server.js";

const SECRET = "not for clients";
let place = "";
let folder = "";

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "parley-files-test-"));
  folder = join(place, "shared");
  await mkdir(join(folder, "deep"), { recursive: true });
  await mkdir(`${folder}-not`);
  for (const file of ["secret.txt", "shared-not/secret.txt"]) await writeFile(join(place, file), SECRET);
  await writeFile(join(folder, "todo.txt"), "buy bread");
  await writeFile(join(folder, "deep/inner.txt"), "inside");
  await symlink("todo.txt", join(folder, "same.txt"));
  await symlink(join(place, "secret.txt"), join(folder, "link.txt"));
  await symlink("../secret.txt", join(folder, "relative.txt"));
  await symlink("..", join(folder, "up"));
  await symlink(`${folder}-not`, join(folder, "sibling"));
  await symlink("link.txt", join(folder, "twice.txt"));
  await symlink("loop.txt", join(folder, "loop.txt"));
});
afterAll(() => rm(place, { recursive: true, force: true }));

const links = ["link.txt", "relative.txt", "twice.txt", "loop.txt", "up", "sibling"];
const ways = [
  "up/secret.txt",
  "sibling/secret.txt",
  "../secret.txt",
  "../shared-not/secret.txt",
  "deep/../../secret.txt",
];
const spellings = [
  ...links,
  ...[...links, ...ways].map((name) => encodeURIComponent(name)),
  ...ways.map((name) => name.replaceAll("/", "%2f").replaceAll(".", "%2e")),
  ...ways.map((name) => name.replaceAll("/", "\\")),
  ...ways.map((name) => encodeURIComponent(encodeURIComponent(name))),
  ...[...links, ...ways].map((name) => encodeURIComponent(`./${name}`)),
  ...["..", ".", "%2e%2e", "%00", "link.txt%00", "..;%2fsecret.txt"],
];

describe("the example files", () => {
  it("reads what lies in its folder, also by a link that stays there", async () => {
    await using client = await connect(serveFolder(folder));
    for (const name of ["todo.txt", "same.txt"])
      expect((await client.readResource(`folder:///${name}`)).contents).toMatchObject([{ text: "buy bread" }]);
  });

  it("has more than 40 spellings of a way out", () => expect(new Set(spellings).size).toBeGreaterThan(40));

  it.each([...new Set(spellings)])("gives nothing for %s", async (name) => {
    await using client = await connect(serveFolder(folder));
    const outcome = await client.readResource(`folder:///${name}`).catch(String);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(typeof outcome).toBe("string");
  });

  it("lists and completes only what it reads", async () => {
    await using client = await connect(serveFolder(folder));
    const listed: string[] = [];
    for await (const { uri } of client.resources()) listed.push(uri);
    expect(listed.sort()).toEqual(["folder:///same.txt", "folder:///todo.txt"]);
    const template = { resource: "folder:///{name}" };
    expect((await client.complete(template, { name: "name", value: "" })).values.toSorted()).toEqual([
      "same.txt",
      "todo.txt",
    ]);
  });
});
