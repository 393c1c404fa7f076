import type { Mutant } from "./mutant.js";

const [PAGES, TOKENS] = [["test/auth/proxy-attacks.test.ts"], ["test/auth/proxy-tokens.test.ts"]];

/** Faults of the OAuth proxy that a real browser, a real authorization server and attacks found, written back into the sources. */
export const FOUND_AUTH_PROXY: readonly Mutant[] = [
  {
    name: "proxy-page-without-referrer",
    recreates: "browsers send `Origin: null` with the answer, so that no user can ever agree",
    file: "auth/proxy/proxy-reply.ts",
    search: '    "referrer-policy": "same-origin",\n',
    replace: "",
    tests: PAGES,
  },
  {
    name: "proxy-form-action",
    recreates: "browsers stop the redirect to the provider that follows the user's answer",
    file: "auth/proxy/proxy-reply.ts",
    search: "base-uri 'none';",
    replace: "form-action 'self'; base-uri 'none';",
    tests: PAGES,
  },
  {
    name: "proxy-open-redirector",
    recreates: "a wrong request sends the user on to an address that anybody has registered",
    file: "auth/proxy/proxy-login.ts",
    search: 'return redirectUri.startsWith("http:")',
    replace: 'return redirectUri !== ""',
    tests: PAGES,
  },
  {
    name: "proxy-hidden-characters",
    recreates: "the name of a client turns the direction of the text on the page that asks for consent",
    file: "auth/proxy/proxy-clients.ts",
    search: '.replace(UNSEEN, "")',
    replace: "",
    tests: PAGES,
  },
  {
    name: "proxy-repeated-parameter",
    recreates: "a parameter that comes twice is read by its first value",
    file: "auth/proxy/proxy-reply.ts",
    search: "!== [...parameters.keys()].length",
    replace: "> [...parameters.keys()].length",
    tests: PAGES,
  },
  {
    name: "proxy-race-ends-grant",
    recreates: "a client that asks for a refresh twice at the same moment loses its login",
    file: "auth/proxy/proxy-tokens.ts",
    search: "now - (current.turnedAt ?? 0) < GRACE_MS",
    replace: "now < 0",
    tests: TOKENS,
  },
  {
    name: "proxy-lost-change",
    recreates: "of two changes of a grant at the same moment one is lost",
    file: "auth/proxy/proxy-grants.ts",
    search: "const MAX_TRIES = 10;",
    replace: "const MAX_TRIES = 1;",
    tests: TOKENS,
  },
  {
    name: "proxy-token-remembered",
    recreates: "a token works for another minute after it was revoked",
    file: "auth/proxy/proxy-tokens.ts",
    search: "      isRemembered: false,\n",
    replace: "",
    tests: TOKENS,
  },
  {
    name: "proxy-preflight-of-pages",
    recreates: "pages of other origins are told that they may read the pages for the user",
    file: "auth/proxy/oauth-proxy.ts",
    search: " && CROSS_ORIGIN_PATHS.has(path)",
    replace: "",
    tests: TOKENS,
  },
  {
    name: "empty-text-of-no-content",
    recreates: "a preflight of the metadata fails in web-standard runtimes",
    file: "transport/http/fetch-core.ts",
    search: "? null : body || null;",
    replace: "? null : (body ?? null);",
    tests: TOKENS,
  },
];
