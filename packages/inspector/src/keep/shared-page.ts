import { createHash } from "node:crypto";

/** What a shared file is made of. */
export interface SharedPageParts {
  /** The script of the page. */
  readonly script: string;
  /** Its style sheet. */
  readonly style: string;
}

/** A shared file without its session, whose JSON stands between the two and is made by `inertJson`. */
export interface SharedPage {
  readonly before: string;
  readonly after: string;
}

/** The id of the element that holds the session; the page looks for it. */
const SHARED_SESSION_ID = "shared-session";

/**
 * One HTML file that needs nothing else: the page with a session in it. Its policy lets this script and this style run and nothing
 * else, whatever a server managed to put into the session.
 */
export function sharedPage(parts: SharedPageParts): SharedPage {
  const [script, style] = [safeScript(parts.script), safeStyle(parts.style)];
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    "img-src data:",
    "media-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Parley inspector: shared session</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="inspector"><p class="starting">Parley inspector</p></div>
<noscript>The inspector needs JavaScript.</noscript>
<script type="application/json" id="${SHARED_SESSION_ID}">`;
  const after = `</script>
<script type="module">${script}</script>
</body>
</html>
`;
  return { before, after };
}

/** JSON that no HTML parser takes for markup, and no reader of lines for an end of one. */
export function inertJson(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** Inside a script, these letters would end it, or open another one; in strings and expressions, `\x3c` is the same sign. */
function safeScript(script: string): string {
  return plainLines(script).replaceAll(/<(?=\/?script)/gi, "\\x3c");
}

function safeStyle(style: string): string {
  return plainLines(style).replaceAll(/<(?=\/style)/gi, "\\3c ");
}

/** Parsers of HTML change ends of lines, and a digest would no longer fit. */
function plainLines(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
