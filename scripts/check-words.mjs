// Holds comments, texts and names of the sources to the rules of CONTRIBUTING.md that a program can check; part of `npm run lint`.
//
// Usage: node scripts/check-words.mjs [path…]
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");
const SOURCES = ["mcp/src", "cli/src", "inspector/src", "inspector/page", "redis/src"].map((at) => `packages/${at}`);
const MAX_SENTENCE_WORDS = 40;

const HEADLESS = /^(What|Whoever|Whatever|Who|Those|That which|Where|Which|Whether) (?!if\b)[a-z]/;
const AVOIDED = [
  [/\b(nobody|somebody|whoever)\b/i, "name the subject"],
  [/(?<!there )\b(is|are|was|were) no (?!longer\b|more\b)[a-z]+\b/, "write `is not a …`"],
  [/\b(for ever|anew|in vain|by and by|ere|till then)\b/i, "write it in plain English"],
];
/** Names that say nothing, and prefixes for which there is another word. */
const NAMES = [
  [/^(MOST|LONGEST|LARGEST|BIGGEST)_/, "limits begin with `MAX_`"],
  [/^(SHORTEST|FEWEST|SMALLEST|LEAST)_/, "lower limits begin with `MIN_`"],
  [/^NOTHING$/, "name the type: `NO_OPTIONS`, `NO_CALLBACKS`"],
  [/^[A-Z]\w*(Parts|Facts)$|^[A-Z]\w+Host$/, "say what it is: `…Options`, `…Config`, `…Info`"],
];

/** Names that are exceptions, with the reason. */
const ALLOWED = new Map([
  ["AppHost", "the MCP Apps term for the application that shows a page"],
  ["LostParts", "public: the parts of content that a model's format cannot carry"],
]);

function sourcesOf(at) {
  if (/\.tsx?$/.test(at)) return [at];
  return readdirSync(at, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => join(at, name))
    .sort();
}

/** The findings in one file; `path` is that from the root of the repository. */
export function findingsIn(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const report = (pos, what, why) => {
    if (ALLOWED.has(what)) return;
    const line = source.getLineAndCharacterOfPosition(pos).line + 1;
    found.push(`${path}:${line}: ${why}: ${what.length > 100 ? `${what.slice(0, 100)}…` : what}`);
  };
  for (const { pos, words } of commentsOf(source)) checkComment(words, (what, why) => report(pos, what, why));
  const visit = (node) => {
    if (isText(node)) checkText(node.text, (what, why) => report(node.getStart(), what, why));
    if (ts.isIdentifier(node) && isDeclared(node)) {
      for (const [pattern, why] of NAMES) if (pattern.test(node.text)) report(node.getStart(), node.text, why);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Every comment once, without its marks; code samples are left out. */
function commentsOf(source) {
  const comments = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? []) {
      const body = source.text
        .slice(pos, end)
        .replace(/^\/\*\*?|\*\/$/g, "")
        .replace(/^\s*(\*|\/\/) ?/gm, "");
      comments.set(pos, { pos, words: body.replace(/@example[\s\S]*?(?=\n@|$)|```[\s\S]*?```/g, "").trim() });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...comments.values()];
}

function checkComment(words, report) {
  if (/^(biome-ignore|@|eslint|v8 ignore)/.test(words)) return;
  if (HEADLESS.test(words))
    report(words.replace(/\s+/g, " "), "begin with a verb in the third person or a noun phrase");
  checkText(words, report);
  for (const sentence of words.split(/(?<=[.!?:;])\s+|\n\s*\n|\n\s*[-|]/)) {
    const count = sentence.split(/\s+/).length;
    if (count > MAX_SENTENCE_WORDS) report(sentence.replace(/\s+/g, " "), `${count} words in one sentence`);
  }
}

function checkText(words, report) {
  for (const [pattern, why] of AVOIDED) {
    const found = pattern.exec(words);
    if (found !== null) report(words.replace(/\s+/g, " "), `"${found[0]}": ${why}`);
  }
}

/** A text that people read: at least three words. */
function isText(node) {
  const isLiteral = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  return isLiteral && /\w+ \w+ \w+/.test(node.text);
}

function isDeclared(node) {
  return node.parent.name === node;
}

function main(paths) {
  const files = (paths.length > 0 ? paths : SOURCES).flatMap((at) => sourcesOf(resolve(root, at)));
  const findings = files.flatMap((file) =>
    findingsIn(relative(root, file).replaceAll(sep, "/"), readFileSync(file, "utf8")),
  );
  for (const finding of findings) console.log(finding);
  if (findings.length === 0) return;
  console.log(`check-words: ${findings.length} findings in ${files.length} files; see "Words" in CONTRIBUTING.md`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
