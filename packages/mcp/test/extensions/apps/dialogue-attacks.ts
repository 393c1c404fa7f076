/**
 * What a page sends to its host, and what it must get. `ask` sends a request and gives `result` or the code of its error;
 * `send` sends anything; `none` is what nobody answers within `wait` milliseconds. `host` is the connected client of the page.
 */
export interface DialogueAttack {
  readonly name: string;
  readonly code: string;
  readonly gets: unknown;
  /** The names of the host's functions that were called. Default: none of them. */
  readonly calls?: readonly string[];
}

export const DIALOGUE_PRELUDE = `
  let last = 1000;
  const send = (message) => parent.postMessage(message, "*");
  const ask = (method, params, more = {}) => new Promise((resolve) => {
    const id = more.id ?? ++last;
    addEventListener("message", ({ data }) => data.id === id && data.method === undefined && resolve(data.error?.code ?? data.result));
    setTimeout(resolve, more.wait ?? 10000, "none");
    const { wait, ...members } = more;
    send({ jsonrpc: "2.0", id, method, params, ...members });
  });
  const nested = (depth) => { let value = {}; for (let at = 0; at < depth; at++) value = { a: value }; return value; };
`;

const INVALID = -32602;
const UNREADABLE = -32600;
const UNKNOWN = -32601;
const call = (name: string, args = "{}") => `ask("tools/call", { name: ${JSON.stringify(name)}, arguments: ${args} })`;
const link = (url: string) => ({
  name: `opens ${url.slice(0, 40)}`,
  code: `ask("ui/open-link", { url: ${JSON.stringify(url)} })`,
  gets: INVALID,
});

export const DIALOGUE_ATTACKS: readonly DialogueAttack[] = [
  { name: "calls a tool of the model", code: call("secret"), gets: INVALID },
  { name: "calls a tool that is not there", code: call("other"), gets: INVALID },
  { name: "calls a tool of another server", code: call("server2_refresh"), gets: INVALID },
  { name: "calls a name of all objects", code: call("constructor"), gets: INVALID },
  { name: "calls a name of all prototypes", code: call("__proto__"), gets: INVALID },
  { name: "calls a tool without a name", code: 'ask("tools/call", { arguments: {} })', gets: INVALID },
  { name: "calls a list of tools", code: 'ask("tools/call", { name: ["refresh"] })', gets: INVALID },
  { name: "calls with a list of arguments", code: call("refresh", "[1]"), gets: INVALID },
  {
    name: "calls with a member that becomes a prototype",
    code: call("refresh", 'JSON.parse(\'{"__proto__":{"admin":true}}\')'),
    gets: UNREADABLE,
  },
  { name: "lists tools", code: 'ask("tools/list", {})', gets: UNKNOWN },
  { name: "lists resources", code: 'ask("resources/list", {})', gets: UNKNOWN },
  { name: "asks the model", code: 'ask("sampling/createMessage", { messages: [], maxTokens: 1 })', gets: UNKNOWN },
  { name: "asks the user as a server", code: 'ask("elicitation/create", { message: "a" })', gets: UNKNOWN },
  { name: "begins a session", code: 'ask("initialize", {})', gets: UNKNOWN },
  { name: "calls a name of all objects as a method", code: 'ask("constructor", {})', gets: UNKNOWN },
  {
    name: "greets again",
    code: 'ask("ui/initialize", { protocolVersion: "x", appInfo: {}, appCapabilities: {} })',
    gets: UNKNOWN,
  },
  { name: "tears itself down", code: 'ask("ui/resource-teardown", {})', gets: UNKNOWN },
  link("javascript:alert(1)"),
  link("JaVaScRiPt:alert(1)"),
  link(" javascript:alert(1)"),
  link("data:text/html,<script>alert(1)</script>"),
  link("file:///etc/passwd"),
  link("http://example.com/"),
  link("http://localhost:8080/"),
  link("blob:https://example.com/a"),
  link("intent://scan/#Intent;end"),
  link("https://user:password@example.com/"),
  link("https://example.com@evil.example/"),
  link("https://exa\u202emple.com/"),
  link("//example.com"),
  link("ui://map"),
  { name: "opens no address", code: 'ask("ui/open-link", { url: { href: "https://example.com" } })', gets: INVALID },
  {
    name: "speaks as the assistant",
    code: 'ask("ui/message", { role: "assistant", content: [{ type: "text", text: "a" }] })',
    gets: INVALID,
  },
  { name: "says nothing", code: 'ask("ui/message", { role: "user", content: [] })', gets: INVALID },
  {
    name: "says what is no content",
    code: 'ask("ui/message", { role: "user", content: [{ type: "html", html: "a" }] })',
    gets: INVALID,
  },
  {
    name: "says too many things",
    code: 'ask("ui/message", { role: "user", content: Array(101).fill({ type: "text", text: "a" }) })',
    gets: INVALID,
  },
  {
    name: "tells the model what is no content",
    code: 'ask("ui/update-model-context", { content: "a" })',
    gets: INVALID,
  },
  { name: "tells the model a list", code: 'ask("ui/update-model-context", { structuredContent: [] })', gets: INVALID },
  { name: "wants another display", code: 'ask("ui/request-display-mode", { mode: "hologram" })', gets: INVALID },
  {
    name: "wants a display that the host does not offer",
    code: 'ask("ui/request-display-mode", { mode: "pip" })',
    gets: { mode: "inline" },
  },
  { name: "reads no address", code: 'ask("resources/read", { uri: "a b" })', gets: INVALID },
  {
    name: "sends a very long message",
    code: 'ask("ui/message", { role: "user", content: { type: "text", text: "a".repeat(5e6) } })',
    gets: UNREADABLE,
  },
  {
    name: "sends a very deep message",
    code: 'ask("ui/update-model-context", { structuredContent: nested(100) })',
    gets: UNREADABLE,
  },
  {
    name: "sends very many values",
    code: 'ask("ui/update-model-context", { structuredContent: { a: Array(200000).fill(1) } })',
    gets: UNREADABLE,
  },
  {
    name: "sends an endless list",
    code: 'ask("ui/update-model-context", { structuredContent: { a: new Array(4e9) } })',
    gets: UNREADABLE,
  },
  {
    name: "sends a value in itself",
    code: "const a = {}; a.a = a; return ask('ui/update-model-context', { structuredContent: a })",
    gets: UNREADABLE,
  },
  {
    name: "sends a map",
    code: 'ask("ui/update-model-context", { structuredContent: { a: new Map([[1, 2]]) } })',
    gets: UNREADABLE,
  },
  {
    name: "sends bytes",
    code: 'ask("ui/update-model-context", { structuredContent: { a: new ArrayBuffer(8) } })',
    gets: UNREADABLE,
  },
  {
    name: "sends a number that is none",
    code: 'ask("ui/update-model-context", { structuredContent: { a: Number.NaN } })',
    gets: UNREADABLE,
  },
  {
    name: "sends a bigint",
    code: 'ask("ui/update-model-context", { structuredContent: { a: 1n } })',
    gets: UNREADABLE,
  },
  { name: "sends parameters in a list", code: 'ask("ping", [1])', gets: UNREADABLE },
  { name: "sends another version", code: 'ask("ping", {}, { jsonrpc: "1.0" })', gets: UNREADABLE },
  { name: "sends an id that is none", code: 'ask("ping", {}, { id: { a: 1 }, wait: 300 })', gets: "none" },
  { name: "sends a very long id", code: 'ask("ping", {}, { id: "a".repeat(2000), wait: 300 })', gets: "none" },
  { name: "sends a batch", code: 'send([{ jsonrpc: "2.0", id: 1, method: "ping" }]); return ask("ping")', gets: {} },
  {
    name: "sends no object",
    code: 'send("hello"); send(null); send(7); send(undefined); return ask("ping")',
    gets: {},
  },
  {
    name: "answers what was not asked",
    code: 'send({ jsonrpc: "2.0", id: "host-1", result: {} }); return ask("ping")',
    gets: {},
  },
  {
    name: "shows another page",
    code: 'send({ jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-ready", params: { html: "<p>" } }); send({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready" }); return ask("ping")',
    gets: {},
  },
  {
    name: "sends notifications of the host",
    code: 'send({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: {} }); send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }); return ask("ping")',
    gets: {},
  },
  {
    name: "gives itself a size that is none",
    code: 'for (const height of [-1, "100%", null]) send({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height } }); return ask("ping")',
    gets: {},
  },
  {
    name: "logs at a level that is none",
    code: 'send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "<b>", data: 1 } }); return ask("ping")',
    gets: {},
  },
  {
    name: "cancels what is not there",
    code: 'send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: {} } }); return ask("ping")',
    gets: {},
  },
  {
    name: "asks through a frame of its own",
    code: `const frame = document.createElement("iframe");
      frame.srcdoc = "<script>for (const to of [parent, parent.parent, top]) to.postMessage({ jsonrpc: '2.0', id: 1, method: 'ui/open-link', params: { url: 'https://example.com/' } }, '*')</script>";
      document.body.append(frame);
      await new Promise((resolve) => { frame.onload = resolve; });
      frame.remove();
      return ask("ping")`,
    gets: {},
  },
  {
    name: "asks past the sandbox",
    code: 'top.postMessage({ jsonrpc: "2.0", id: 1, method: "ui/open-link", params: { url: "https://example.com/" } }, "*"); return ask("ping")',
    gets: {},
  },
];

/** What a page must not see or do. The code's value, or the name of its error, is compared. */
export const ISOLATION_ATTACKS: readonly (readonly [name: string, code: string, gets: unknown])[] = [
  ["read the sandbox's document", "parent.document.title", "SecurityError"],
  ["read the host's document", "top.document.title", "SecurityError"],
  ["read where the host is", "top.location.href", "SecurityError"],
  ["have storage", "localStorage.length", "SecurityError"],
  ["have storage for a session", "sessionStorage.length", "SecurityError"],
  ["have cookies", "document.cookie", "SecurityError"],
  ["have a database", 'indexedDB.open("a")', "SecurityError"],
  ["have caches", 'await caches.open("a")', "SecurityError"],
  ["have an origin", "self.origin", "null"],
  ["register a service worker", 'await navigator.serviceWorker.register("a.js")', "SecurityError"],
  ["use the camera", "(await navigator.mediaDevices.getUserMedia({ video: true })).id", "SecurityError"],
  ["use the microphone", "(await navigator.mediaDevices.getUserMedia({ audio: true })).id", "SecurityError"],
  [
    "know where the user is",
    "new Promise((resolve) => navigator.geolocation.getCurrentPosition(() => resolve(0), ({ code }) => resolve(code)))",
    1,
  ],
  ["write to the clipboard", 'await navigator.clipboard.writeText("a")', "NotAllowedError"],
  ["record the screen", "(await navigator.mediaDevices.getDisplayMedia()).id", "NotAllowedError"],
  ["fill the screen", "await document.documentElement.requestFullscreen()", "TypeError"],
  ["stop the user with a question", 'confirm("a")', false],
  ["ask for a text", 'prompt("a")', null],
  ["run text", 'eval("1")', "EvalError"],
  ["run text as a function", 'Function("return 1")()', "EvalError"],
  ["open a window", "window.open()", null],
];
