// Checks the subjects of commits: `area: what changed`, imperative, at most 72 characters. Part of `npm run lint`.
//
// Usage: node scripts/check-commits.mjs [revision range]
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(import.meta.dirname, "..");
/** The last commit before the rule; older history is left as it is. */
const SINCE = "e7d0d05aff0c7b3905a5946728b1264def0b1c8d";
const MAX_SUBJECT_LENGTH = 72;

/** Areas that are not folders of sources. */
const OTHER_AREAS = [
  "architecture",
  "build",
  "changelog",
  "ci",
  "comments",
  "deps",
  "lint",
  "mcp",
  "mutants",
  "readme",
  "release",
  "tests",
  "types",
];
/** First words that end like a participle or a third person and are imperatives. */
const IMPERATIVE =
  /^(bring|embed|exceed|express|feed|focus|need|pass|proceed|process|seed|speed|access|address|compress|discuss|bypass|alias|assess|suppress)$/;

/** The folders of packages and their sources, the entries of the library, and the folders at the root. */
export function areasOf() {
  const folders = (at) =>
    readdirSync(at, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|\..*)$/.test(entry.name))
      .flatMap((entry) => [entry.name, ...folders(join(at, entry.name))]);
  const packages = readdirSync(join(root, "packages"));
  const sources = packages.flatMap((name) => {
    const at = join(root, "packages", name, "src");
    // `create-parley` is built from the sources of the command line.
    if (!existsSync(at)) return [];
    const entries = readdirSync(at).filter((file) => statSync(join(at, file)).isFile());
    return [...folders(at), ...entries.map((file) => basename(file, ".ts"))];
  });
  const tops = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return new Set([...packages, ...sources, ...tops.map(({ name }) => name), ...OTHER_AREAS]);
}

/** The problems of one subject; none if it has the form. */
export function problemsOf(subject, areas) {
  if (/^(Merge|Revert) /.test(subject)) return [];
  const [, area, what] = /^([a-z][a-z0-9/-]*): (.+)$/.exec(subject) ?? [];
  if (area === undefined) return ["write `area: what changed`"];
  const problems = [];
  if (!area.split("/").every((part) => areas.has(part))) problems.push(`"${area}" is not a room, package or folder`);
  if (subject.length > MAX_SUBJECT_LENGTH)
    problems.push(`${subject.length} characters; the limit is ${MAX_SUBJECT_LENGTH}`);
  const verb = /^[\w-]*/.exec(what)[0];
  if (/^[A-Z][a-z]/.test(what)) problems.push("begin the part after the colon in lower case");
  if (/(ed|ing|[^s]s)$/.test(verb) && !IMPERATIVE.test(verb)) problems.push(`"${verb}" is not an imperative`);
  if (what.endsWith(".")) problems.push("leave out the final period");
  return problems;
}

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function main(range) {
  const listed = git("log", "--format=%h %s", range ?? `${SINCE}..HEAD`);
  if (listed === undefined) return console.log("check-commits: skipped, because the history is not in this checkout");
  const areas = areasOf();
  const commits = listed.split("\n").filter((line) => line !== "");
  const wrong = commits.flatMap((line) => {
    const [, id, subject] = /^(\S+) (.*)$/.exec(line) ?? [];
    return problemsOf(subject, areas).map((problem) => `${id} ${subject}: ${problem}`);
  });
  for (const line of wrong) console.log(line);
  if (wrong.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv[2]);
