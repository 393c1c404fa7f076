import type { Entry } from "./entries.js";
import type { GuideExamples } from "./examples.js";
import type { ApiKind, ApiName } from "./read-entry.js";

const HEADINGS: Readonly<Record<ApiKind, string>> = {
  namespace: "Namespaces",
  class: "Classes",
  function: "Functions",
  constant: "Constants",
  type: "Types",
};

const KINDS = Object.keys(HEADINGS) as ApiKind[];

/** What each page of the reference says of itself. */
export const WRITTEN =
  "Written by `npm run docs:api` from the declarations; change the comments in the sources instead.";

/** Where each name stands on its page: a second heading that differs in case alone gets a number, as pages number them. */
function anchorsOf(names: readonly ApiName[]): Map<ApiName, string> {
  const used = new Map<string, number>();
  const anchors = new Map<ApiName, string>();
  for (const api of KINDS.flatMap((kind) => names.filter((name) => name.kind === kind))) {
    const plain = api.name.toLowerCase();
    const before = used.get(plain) ?? 0;
    used.set(plain, before + 1);
    anchors.set(api, before === 0 ? `#${plain}` : `#${plain}-${before}`);
  }
  return anchors;
}

/** The page of one entry: a list of all names, then each with its purpose, contract, declaration and example. */
export function renderEntry(entry: Entry, names: readonly ApiName[], examples: GuideExamples): string {
  const anchors = anchorsOf(names);
  const link = (api: ApiName) => `[\`${api.name}\`](${anchors.get(api)})`;
  const kinds = KINDS.filter((kind) => names.some((name) => name.kind === kind));
  const lists = kinds.map((kind) => {
    const own = names.filter((name) => name.kind === kind);
    return `**${HEADINGS[kind]}:** ${own.map(link).join(", ")}\n`;
  });
  const parts = kinds.map((kind) => {
    const own = names.filter((name) => name.kind === kind);
    const rendered = own.map((api) => renderName(api, examples) + renderUsers(usersOf(api, names).map(link)));
    return [`## ${HEADINGS[kind]}\n`, ...rendered].join("\n");
  });
  return `# \`${entry.name}\`\n\n${entry.purpose}\n\n${WRITTEN}\n\n${lists.join("\n")}\n${parts.join("\n")}`;
}

function renderName(api: ApiName, examples: GuideExamples): string {
  const parts = [`### \`${api.name}\`\n`, `${api.doc}\n`, block(api.declaration)];
  for (const one of api.members) parts.push(`#### \`${one.name}\`\n`, `${one.doc}\n`, block(one.declaration));
  for (const example of api.examples) parts.push(block(example));
  const found = api.examples.length > 0 || api.kind === "type" ? undefined : examples.of(api.name);
  if (found !== undefined) {
    parts.push(`Example, from [${title(found.page)}](${target(found.page)}):\n`, block(found.code.trim()));
  }
  return parts.filter((part) => part !== "").join("\n");
}

const renderUsers = (links: readonly string[]) => (links.length === 0 ? "" : `\nUsed by ${links.join(", ")}.\n`);

/** Names of the entry whose declaration mentions a type; a few say what it is for. */
function usersOf(api: ApiName, all: readonly ApiName[]): ApiName[] {
  if (api.kind !== "type") return [];
  const word = new RegExp(`\\b${api.name}\\b`);
  return all
    .filter((other) => other !== api && word.test(other.declaration.replace(/\/\*\*[\s\S]*?\*\//g, "")))
    .toSorted((a, b) => Number(a.kind === "type") - Number(b.kind === "type"))
    .slice(0, 6);
}

const block = (code: string) => (code === "" ? "" : `\`\`\`ts\n${code}\n\`\`\`\n`);
const title = (page: string) => (page === "README.md" ? "the README" : page.slice("docs/".length, -".md".length));
const target = (page: string) => (page === "README.md" ? "../../README.md" : `../${page.slice("docs/".length)}`);

/** The page that lists the entries. */
export function renderIndex(entries: readonly { entry: Entry; names: readonly ApiName[] }[]): string {
  const rows = entries.map(({ entry, names }) => {
    const values = names.filter(({ kind }) => kind !== "type").length;
    return `| [\`${entry.name}\`](${entry.page}) | ${entry.purpose} | ${values} | ${names.length - values} |\n`;
  });
  const head = "| entry | what it is for | values | types |\n|---|---|--:|--:|\n";
  return `# API reference\n\nEvery exported name with its purpose, its contract and its declaration. ${WRITTEN}\n\n${head}${rows.join("")}\nEvery option in tables: [options](options.md).\n`;
}
