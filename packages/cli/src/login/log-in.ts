import { connect } from "@parley/mcp";
import { deviceLogin, type Login, oauth, type TokenStore } from "@parley/mcp/auth";
import { browserLogin, fileTokenStore, openInBrowser, terminalLogin } from "@parley/mcp/login";
import type { CommandRun, Invocation } from "../commands/command.js";
import { clientFromOptions, tokenFile } from "../target/saved-logins.js";
import { resolveTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";

/** `parley login`: connects to a server, logs in if the server requires it, and stores the tokens. */
export const logIn: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const url = await loginAddress(invocation);
  const store = countingStore(fileTokenStore(tokenFile(terminal.io)));
  const scopes = options.many("scope");
  const client = clientFromOptions(invocation);
  const auth = oauth({
    login: await loginOf(invocation),
    store,
    registration: { client_name: "Parley" },
    ...(scopes.length === 0 ? {} : { scopes, requiredScopes: scopes }),
    ...(client === undefined ? {} : { client }),
  });
  await using connected = await connect(url, { auth, name: "parley", signal: terminal.io.signal });
  // A server may accept connections without a token, and require a token only for requests. In that case the ping
  // starts the login.
  await connected.ping();
  const name = connected.serverInfo?.name ?? url;
  if (terminal.json) terminal.printJson({ url, server: connected.serverInfo, kept: store.changes > 0 });
  else if (store.changes > 0) terminal.print(show`Logged in to ${name}. Later commands use this login.`);
  else terminal.print(show`${name} accepted this command without a new login.`);
  return EXIT.ok;
};

/** Returns the URL of the server to log in to or out of. Throws a `UsageError` for a target that is not a URL. */
export async function loginAddress(invocation: Invocation): Promise<string> {
  const [target] = await resolveTarget(invocation, { logsIn: true });
  if (target.kind === "url") return target.entry.url;
  throw new UsageError(
    `${target.name} is not a URL`,
    "Use a server at a URL. Programs get their credentials with --env.",
  );
}

async function loginOf({ options, terminal }: Invocation): Promise<Login> {
  const timeoutMs = options.duration("timeout");
  const given = { port: options.count("port", 0, 65_535), timeoutMs };
  if (options.flag("device")) return deviceLogin((prompt) => showCode(terminal, prompt));
  if (!options.isOff("browser")) return browserLogin({ ...given, open: (url) => openOrShow(terminal, url) });
  const { createInterface } = await import("node:readline/promises");
  const ask = async (prompt: string, ended: AbortSignal) => {
    const reader = createInterface({ input: terminal.io.stdin, output: terminal.io.stderr });
    try {
      return await reader.question(prompt, { signal: AbortSignal.any([terminal.io.signal, ended]) });
    } finally {
      reader.close();
    }
  };
  return terminalLogin({ ...given, output: terminal.io.stderr, ask });
}

function openOrShow(terminal: Terminal, url: string): void {
  terminal.note("Opening the browser. If it does not open, visit:");
  terminal.note(show`  ${url}`);
  openInBrowser(url);
}

function showCode(
  terminal: Terminal,
  { url, code, completeUrl }: { url: string; code: string; completeUrl?: string | undefined },
): void {
  terminal.note(show`Open ${url} on any device and type ${terminal.noteStyle.bold(code)}`);
  if (completeUrl !== undefined) terminal.note(show`or open ${completeUrl}`);
}

/** Counts the writes to a store, and the deletions of tokens from it. */
export function countingStore(
  store: TokenStore,
): TokenStore & { readonly changes: number; readonly forgotten: number } {
  let changes = 0;
  let forgotten = 0;
  return {
    get changes() {
      return changes;
    },
    get forgotten() {
      return forgotten;
    },
    get: (key) => store.get(key),
    set: async (key, value) => {
      await store.set(key, value);
      changes += 1;
    },
    delete: async (key) => {
      // The store also has other entries, such as the issuers of tokens. Their deletion is not counted.
      if (key.startsWith("tokens ") && (await store.get(key)) !== undefined) forgotten += 1;
      await store.delete(key);
    },
    ...(store.lock === undefined ? {} : { lock: store.lock.bind(store) }),
  };
}
