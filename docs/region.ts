import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** What stands between `<!-- name -->` and `<!-- /name -->` of a page; with UPDATE_DOCS=1 it is made to be `text` first. */
export function region(page: string, name: string, text: string): string {
  const file = join(root, page);
  const place = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
  if (process.env["UPDATE_DOCS"] === "1") {
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(place, (_all, open, _old, close) => open + text + close),
    );
  }
  return place.exec(readFileSync(file, "utf8"))?.[2] ?? `there is no region "${name}" in ${page}`;
}
