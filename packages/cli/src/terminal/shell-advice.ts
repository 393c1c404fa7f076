import type { McpError } from "@parley/mcp";
import { memberOf } from "../questions/typed-value.js";

/** Phrases in the library's fixes, which name options of its API, and their replacements for users of a shell. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/`timeouts\.\w+`(?:, for this call or in `connect`| of `\w+`)?/, "--timeout"],
  [/; `data\.(?:stderr|result)` (?:has|is) [\w ]+\.$/, "; --debug shows every message, and the server's stderr."],
  [/pass its full path as `command`, or set `PATH` in `env`/, "use its full path, or set PATH with --env"],
  [/^Check that the folder `cwd` exists/, "Check that the folder of --cwd exists"],
  [
    /^(Pass \S+) in `env`; a server inherits only a few variables/,
    "$1 with --env NAME=value, or in `env` of its configuration",
  ],
  [/ in `args`/, ""],
  [/, or set `allowCrossOriginRedirects`/, ""],
  [/, or raise `\w+`(?: of `connect`| on the reading side)(?: or of the transport)?/, ""],
  [/^Raise `(?:maxRounds|maxQuestions)` in `connect`, or look/, "Look"],
  [/^Look at [^.]*`client\.serverCapabilities`[^.]*\./, "`parley info` shows what the server offers."],
  [/^Look at `cause` and at the server's log/, "Look at the server's log"],
  [/another `port`; 0 picks a free one/, "another port: --http 0 picks a free one"],
  [
    /^Add (?:this|a|one of these) revisions? [^.]*`revisions` option[^.]*\.|^Add older revisions to the `revisions` option\./,
    "Remove --revision, or use one that the server supports.",
  ],
  [/, or use an older revision with `revisions`/, ", or try an older --revision"],
  [/^Pass credentials to `connect` in `headers`/, 'Pass credentials with --header "Authorization: Bearer …"'],
  [/pass it as `client`/, "pass it with --client-id"],
  [/^Pass an `input` function that returns it as a string/, "Pass --input name=value"],
  [/^Pass `(?:userHome|workspaceFolder)`/, "Write the folder in full"],
  [/^Pass `login` or `grant` to `oauth`/, "Run `parley login <url>`, or use --grant client-credentials"],
  [/^See `data\.steps` for what was tried; correct/, "Correct"],
  [/^Request the scopes that the challenge lists/, "Run `parley login <url> --scope <scope>`"],
  [/^Wait for `data\.retryAfterMs`/, "Wait a while"],
  [/^Check `data\.status` and the proxies/, "Check the status, and the proxies"],
  [/^(Open the URLs) in `data\.elicitations`/, "$1"],
  [/^Initialize again; set `resend` for calls that are safe to repeat\./, "Run the command again if that is safe."],
  // The commands themselves accept tokens that are not bound to a DPoP key. Only a module of the user can set `dpop:
  // true`.
  [/^Set `dpop` to `auto` if/, "Set `dpop` to `auto` in the module that calls `oauth`, if"],
  [/, or pass `checkOutput: false` to take results unchecked/, ""],
];

/** Rewrites a fix of the library for the command line. */
export function shellAdvice(fix: string): string {
  return REPLACEMENTS.reduce((text, [api, words]) => text.replace(api, words), fix);
}

/**
 * The message and fix for an error that a login or further scopes resolve. Undefined for other errors. With
 * `isGranted`, the token came from `--grant`, which needs no login.
 */
export function loginAdvice(
  error: McpError,
  target: string,
  isGranted = false,
): { readonly message: string; readonly fix: string } | undefined {
  const { kind, message, data } = error;
  if (kind === "insufficient_scope") {
    const scopes = wantedScopes(data);
    const wanted = scopes.length === 0 ? "--scope <scope>" : scopes.map((scope) => `--scope ${scope}`).join(" ");
    const fix = isGranted ? `Add ${wanted}.` : `Run \`parley login ${target} ${wanted}\`.`;
    if (scopes.length === 0) return { message, fix };
    return {
      message: `${operationName(error)} requires the scope${scopes.length === 1 ? "" : "s"} ${scopes.join(" and ")}`,
      fix,
    };
  }
  if (isGranted) return undefined;
  if (kind !== "auth_required" && !(kind === "authorization_failed" && memberOf(data, "reason") === "login_needed"))
    return undefined;
  return { message, fix: `Run \`parley login ${target}\`, or pass a token: --header "Authorization: Bearer …".` };
}

/** The scopes that the error names, in its data or in its challenge. */
function wantedScopes(data: unknown): string[] {
  const scopes = memberOf(data, "scopes");
  const [, listed = ""] = /\bscope="([^"]*)"/.exec(String(memberOf(data, "challenge") ?? "")) ?? [];
  const all = Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : listed.split(" ");
  // Omits scopes that would need quotes on the command line, because quoting differs between shells.
  return all.filter((scope) => /^[\w.:/@+-]+$/.test(scope)).slice(0, 20);
}

function operationName({ operation }: McpError): string {
  if (operation === undefined) return "the server";
  const { method, target } = operation;
  return target === undefined ? method : `${KINDS.get(method) ?? method} ${JSON.stringify(target)}`;
}

const KINDS = new Map([
  ["tools/call", "the tool"],
  ["resources/read", "the resource"],
  ["prompts/get", "the prompt"],
]);
