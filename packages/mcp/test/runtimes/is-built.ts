import { existsSync, readFileSync } from "node:fs";

const library = new URL("../../", import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL("package.json", library), "utf8")) as {
  exports: { ".": { node: string } };
};

/** Whether the package is there as a user's program finds it. */
export const isBuilt = existsSync(new URL(exports["."].node, library));

/** The whole test command builds and installs first; there nothing may be left out. */
export const isWholeSuite = process.env["npm_lifecycle_event"] === "test";
