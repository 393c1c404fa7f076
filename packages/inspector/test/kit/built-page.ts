import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildPage } from "../../build-page.mjs";

let built: Promise<string> | undefined;

/** The folder with the page, built once for each process that asks. */
export function builtPage(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const cache = new URL("../../../../node_modules/.cache/parley/inspector-page/", import.meta.url);
  const folder = fileURLToPath(new URL(`${process.pid}/`, cache));
  await buildPage(folder);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
