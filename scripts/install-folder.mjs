// Installs a folder that is no workspace (peers, runtimes) when its lockfile differs from what was installed last.
//
// Usage: node scripts/install-folder.mjs folder
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const stamp = join(folder, "node_modules/.installed-lockfile");
const wanted = createHash("sha256")
  .update(readFileSync(join(folder, "package-lock.json")))
  .digest("hex");

if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
  console.log(`${folder}: up to date`);
} else {
  console.log(`${folder}: installing`);
  // An outer npm hands its own settings down by environment, the workspace's root among them.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(config|package)_/i.test(name)));
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], {
    cwd: folder,
    env,
    stdio: "inherit",
  });
  writeFileSync(stamp, wanted);
}
