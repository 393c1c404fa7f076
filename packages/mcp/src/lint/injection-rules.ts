import { printableLine } from "../encoding/printable.js";
import { isObject } from "../jsonrpc/message.js";
import type { Tool } from "../protocol/features/tools.js";
import { type LintInput, type LintRule, type PlacedText, type Problem, textsOf } from "./lint-rule.js";

/** A pattern of text that gives orders to a model. Each pattern is bounded, so that it runs in linear time. */
interface InjectionPattern {
  readonly pattern: RegExp;
  readonly message: string;
}

/** Orders to ignore earlier instructions. */
const OVERRIDES: readonly InjectionPattern[] = [
  {
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}?\b(?:previous|prior|earlier|above|preceding|all|any|other|system|your|existing)\b.{0,30}?\b(?:instructions?|prompts?|rules|guidelines|directives|restrictions)\b/,
    message: "the text tells the model to ignore its instructions",
  },
  {
    pattern: /\b(?:new|updated|real|true|secret|hidden|system) (?:system )?(?:instructions?|directives?) ?:/,
    message: "the text gives the model new instructions",
  },
  {
    pattern: /\b(?:you are now|from now on,? you|enter developer mode|developer mode enabled|jailbreak)\b/,
    message: "the text gives the model a new role",
  },
  {
    pattern: /\b(?:reveal|print|repeat|output|leak|return) (?:\w+ ){0,3}system prompt\b/,
    message: "the text asks for the system prompt",
  },
];

/** Orders to keep something from the user. */
const SECRECY: readonly InjectionPattern[] = [
  {
    pattern:
      /\b(?:do not|don't|don’t|never|must not|should not|without) (?:\w+ ){0,2}(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|show|showing|let)\b.{0,40}?\b(?:users?|human|person|anyone|anybody|owner)\b/,
    message: "the text tells the model to keep something from the user",
  },
  {
    pattern: /\b(?:hide|conceal|keep) (?:\w+ ){0,4}(?:from (?:the )?users?|secret from|hidden from)\b/,
    message: "the text tells the model to hide something from the user",
  },
];

const OBTAIN =
  "(?:read|open|cat|load|fetch|include|send|pass|provide|attach|upload|copy|paste|put|supply|append|exfiltrate)";

/** Orders to read files or keys that are secret. */
const SECRETS: readonly InjectionPattern[] = [
  {
    pattern: new RegExp(
      `\\b${OBTAIN}\\b.{0,80}?(?:~/\\.ssh|\\.ssh/|\\bid_(?:rsa|ed25519|ecdsa)\\b|/etc/(?:passwd|shadow)|\\.aws/credentials|(?:^|[\\s/\`"'])\\.(?:env|npmrc|netrc|pgpass)\\b|\\.kube/config|\\bmcp\\.json\\b|claude_desktop_config)`,
    ),
    message: "the text asks for a file that contains secrets",
  },
  {
    pattern: new RegExp(`\\b${OBTAIN}\\b.{0,40}?\\b(?:private|ssh|secret) keys?\\b`),
    message: "the text asks for private keys",
  },
];

/** Orders to hand over confidential context. */
const CONTEXT: readonly InjectionPattern[] = [
  {
    pattern: new RegExp(
      `\\b${OBTAIN}\\b.{0,40}?\\b(?:entire|full|whole|complete|previous|all)\\b.{0,20}?\\b(?:conversations?|chat|chat history|message history|context window)\\b`,
    ),
    message: "the text asks for the conversation",
  },
  {
    pattern: new RegExp(
      `\\b${OBTAIN}\\b.{0,40}?\\b(?:users?'s?|users’|user’s|your) (?:passwords?|credentials|api keys?|access tokens?|secrets)\\b`,
    ),
    message: "the text asks for the credentials of the user",
  },
];

/** Markup that imitates a prompt, or that is invisible to people when the text is rendered. */
const MARKUP: readonly InjectionPattern[] = [
  { pattern: /<!--/, message: "the text has an HTML comment, which is invisible when rendered" },
  {
    pattern: /<\/?(?:system|sys|important|instructions?|assistant|hidden|override|critical)(?: [^>]{0,80})?>/,
    message: "the text has a tag that imitates a prompt",
  },
  { pattern: /\[\/?inst\]|<\|[a-z_]{2,20}\|>/, message: "the text has a control token of a model" },
  {
    pattern: /!\[[^\]]{0,200}\]\(https?:/,
    message: "the text embeds a remote image, which can leak data",
  },
];

/** Text that people cannot read. */
const BLOBS: readonly InjectionPattern[] = [
  {
    // Requires lower case, upper case and digits, to exclude long paths and words.
    pattern: /(?=[A-Za-z0-9+/]{0,99}[0-9])(?=[A-Za-z0-9+/]{0,99}[A-Z])(?=[A-Za-z0-9+/]{0,99}[a-z])[A-Za-z0-9+/]{100}/,
    message: "the text has a long run of base64, which people cannot read",
  },
  { pattern: /(?:\\x[0-9a-f]{2}){16}|\b[0-9a-f]{128}/i, message: "the text has a long run of hexadecimal digits" },
  { pattern: /\bdata:[a-z]+\/[a-z0-9.+-]{1,40};base64,/i, message: "the text has a data URL" },
];

const FIX =
  "Remove it: a description should only say what the tool does. Do not use a third-party server that contains this.";
const MAX_QUOTE_LENGTH = 80;

/** Rules about texts that give orders to a model or hide something from people. */
export const INJECTION_RULES: readonly LintRule[] = [
  patternRule(
    "injection-override",
    "error",
    "A text tells the model to ignore its instructions, or gives it new ones.",
    OVERRIDES,
  ),
  patternRule("injection-secrecy", "error", "A text tells the model to keep something from the user.", SECRECY),
  patternRule("injection-secrets", "error", "A text asks for secret files or keys.", SECRETS),
  patternRule(
    "injection-context",
    "warning",
    "A text asks for the conversation or for the credentials of the user.",
    CONTEXT,
  ),
  patternRule(
    "injection-markup",
    "error",
    "A text has HTML comments, tags that imitate a prompt, or remote images.",
    MARKUP,
  ),
  {
    id: "injection-hidden",
    severity: "error",
    summary:
      "A text has characters that are invisible or reorder others: zero-width characters, direction marks, tags.",
    *each(tool) {
      for (const { path, text } of textsOf(tool)) {
        const hidden = [...new Set(hiddenIn(text))];
        if (hidden.length === 0) continue;
        const codes = hidden.slice(0, 5).map((char) => {
          return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
        });
        yield { path, message: `the text has invisible characters: ${codes.join(", ")}`, fix: FIX };
      }
    },
  },
  patternRule(
    "injection-blob",
    "warning",
    "A text has a long run of characters that people cannot read, such as base64.",
    BLOBS,
    false,
  ),
  {
    id: "injection-other-tools",
    severity: "warning",
    summary: "A description sets rules for all other tools, or names a tool that the server does not have.",
    each: otherTools,
  },
];

function patternRule(
  id: string,
  severity: LintRule["severity"],
  summary: string,
  patterns: readonly InjectionPattern[],
  asRead = true,
): LintRule {
  return {
    id,
    severity,
    summary,
    *each(tool) {
      for (const { path, text } of textsOf(tool)) {
        const read = asRead ? normalizeText(text) : text;
        for (const { pattern, message } of patterns) {
          const [quote] = pattern.exec(read) ?? [];
          if (quote !== undefined) yield { path, message: `${message}: ${quoted(quote)}`, fix: FIX };
        }
      }
    },
  };
}

/** Normalizes the text, so that compatibility characters, invisible characters and line breaks cannot hide a match. */
function normalizeText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/\s+/g, " ")
    .toLowerCase();
}

function quoted(text: string): string {
  const line = printableLine(text);
  return `"${line.length > MAX_QUOTE_LENGTH ? `${line.slice(0, MAX_QUOTE_LENGTH)}…` : line}"`;
}

/**
 * Yields control characters other than white space, and characters that no font shows. Skips joiners where emoji and
 * scripts need them.
 */
function* hiddenIn(text: string): Iterable<string> {
  let before = "";
  for (const char of text) {
    const joins = JOINERS.includes(char) && JOINED.test(before);
    if (HIDDEN.test(char) && !joins) yield char;
    before = char;
  }
}

const HIDDEN = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** Emoji, and letters and marks outside of ASCII, after which joiners are legitimate. */
const JOINED = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|[#*0-9]|(?![ -~])[\p{L}\p{M}]/u;
const JOINERS = ["\u200c", "\u200d", "\ufe0e", "\ufe0f"];

const EVERY_TOOL =
  /\b(?:before|whenever|instead of|prior to|after|in place of|each time|every time)\b.{0,40}?\b(?:any|every|all|each)\b.{0,20}?\btools?\b/;
const NAMED_TOOL =
  /\b(?:call|calling|use|using|invoke|invoking|run|running|instead of|before|after) (?:the )?[`'"]?([a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?=[`'"]? tool\b))/g;

function* otherTools(tool: Tool, { names }: LintInput): Iterable<Problem> {
  const own = new Set(argumentsOf(tool));
  for (const { path, text } of textsOf(tool).filter(isDescription)) {
    const read = normalizeText(text);
    const [quote] = EVERY_TOOL.exec(read) ?? [];
    if (quote !== undefined) {
      yield { path, message: `the text sets rules for all other tools: ${quoted(quote)}`, fix: FIX };
    }
    const [name] = [...read.matchAll(NAMED_TOOL)]
      .map(([, one = ""]) => one)
      .filter((one) => !names.has(one) && !own.has(one));
    if (name === undefined) continue;
    const fix = "Name only tools of this server, by their exact names.";
    yield { path, message: `the text names ${quoted(name)}, which is not a tool of this server`, fix };
  }
}

function isDescription({ path }: PlacedText): boolean {
  return path.endsWith("description");
}

function argumentsOf({ inputSchema }: Tool): string[] {
  const properties = isObject(inputSchema) ? inputSchema["properties"] : undefined;
  return isObject(properties) ? Object.keys(properties).map((name) => name.toLowerCase()) : [];
}
