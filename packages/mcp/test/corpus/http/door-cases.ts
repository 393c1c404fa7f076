import { GOOD_BODY, GOOD_HEADERS, HOST, type HttpCase, headers } from "./http-case.js";

const INVALID_REQUEST = -32600;
const METHODS = ["POST", "GET", "DELETE", "OPTIONS"];

const EVIL_HOSTS = [
  "evil.example",
  "evil.example:3000",
  "localhost.evil.example",
  "localhost.",
  "localhost:",
  "localhost:x",
  "localhost:99999",
  "127.1",
  "127.0.0.2",
  "127.0.0.1.evil.example",
  "0x7f000001",
  "2130706433",
  "0177.0.0.1",
  "0.0.0.0",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[0:0:0:0:0:0:0:1]",
  "::1",
  "user@localhost",
  "localhost@evil.example",
  "localhost/evil.example",
  "localhost#evil",
  "xn--lcalhost-d3a",
  "localhost\\evil",
  "169.254.169.254",
  "192.168.1.1",
  "metadata.google.internal",
];

const GOOD_HOSTS = [
  "localhost",
  "localhost:8080",
  "LOCALHOST",
  "LocalHost:3000",
  "127.0.0.1",
  "127.0.0.1:3000",
  "[::1]",
  "[::1]:3000",
];

const EVIL_ORIGINS = [
  "http://evil.example",
  "https://evil.example",
  "http://localhost.evil.example",
  "http://evil.example/localhost",
  "http://localhost@evil.example",
  "http://evil.example#localhost",
  "http://evil.example?localhost",
  "http://127.1",
  "http://0x7f000001",
  "http://2130706433",
  "http://127.0.0.2",
  "http://192.168.1.1",
  "http://[::ffff:127.0.0.1]",
  "null",
  "file://",
  "file:///etc/passwd",
  "chrome-extension://abcdefghijklmnop",
  "moz-extension://abcdef",
  "vscode-webview://abc",
  "ftp://localhost",
  "localhost",
  "//localhost",
  "http:localhost",
  "http://",
  "http://localhost ,http://evil.example",
  "http://localhost:x",
  "javascript:alert(1)",
  "data:text/html,x",
];

const GOOD_ORIGINS = [
  "http://localhost",
  "http://localhost:5173",
  "https://localhost",
  "http://127.0.0.1:3000",
  "http://[::1]:3000",
];

function crossed(): HttpCase[] {
  return METHODS.flatMap((method) => {
    const body = method === "POST" ? { body: GOOD_BODY } : {};
    const base = { category: "door", method, status: 403, code: INVALID_REQUEST, ...body };
    return [
      ...EVIL_HOSTS.map((host) => ({ ...base, name: `${method} with Host ${host}`, headers: headers({ host }) })),
      ...EVIL_ORIGINS.map((origin) => ({
        ...base,
        name: `${method} with Origin ${origin}`,
        headers: headers({ origin }),
      })),
    ];
  });
}

const twoHosts = (first: string, second: string): HttpCase => ({
  category: "door",
  name: `two Hosts, ${first} and ${second}`,
  headers: [["host", first], ["host", second], ...GOOD_HEADERS.filter(([name]) => name !== "host")],
  body: GOOD_BODY,
  status: 400,
  code: INVALID_REQUEST,
});

function target(url: string, host: string, status: number): HttpCase {
  const lines = [["host", host], ...GOOD_HEADERS.filter(([name]) => name !== "host")].map(
    ([name, value]) => `${name}: ${value}`,
  );
  return {
    category: "door",
    name: `the request target ${url} with Host ${host}`,
    headers: [],
    raw: `POST ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\ncontent-length: ${GOOD_BODY.length}\r\n\r\n${GOOD_BODY}`,
    status,
    ...(status === 200 ? { good: true } : { code: INVALID_REQUEST }),
    socketOnly: "a Request has one URL",
  };
}

/** Who may knock: DNS rebinding and requests from other pages. SEC-01, HTTP25-02, HTTP26-02. */
export const DOOR_CASES: HttpCase[] = [
  ...crossed(),
  ...GOOD_HOSTS.map(
    (host): HttpCase => ({
      category: "door",
      name: `Host ${host}`,
      headers: headers({ host }),
      body: GOOD_BODY,
      status: 200,
      good: true,
    }),
  ),
  ...GOOD_ORIGINS.map(
    (origin): HttpCase => ({
      category: "door",
      name: `Origin ${origin}`,
      headers: headers({ origin }),
      body: GOOD_BODY,
      status: 200,
      good: true,
    }),
  ),
  // Joined by a comma it is one strange name on a socket, and two headers to a `Request`.
  {
    category: "door",
    name: "two names in one Host",
    headers: headers({ host: "localhost, evil.example" }),
    body: GOOD_BODY,
    status: [400, 403],
    code: INVALID_REQUEST,
  },
  twoHosts(HOST, "evil.example"),
  twoHosts("evil.example", HOST),
  twoHosts(HOST, HOST),
  target("http://evil.example/mcp", HOST, 403),
  target("http://localhost.evil.example/mcp", "localhost", 403),
  target("http://localhost/mcp", "localhost", 200),
];
