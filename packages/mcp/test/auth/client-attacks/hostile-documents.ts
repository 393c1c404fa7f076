import type { ServerResponse } from "node:http";

/** An answer in place of a metadata document, and what the error must say of it. */
export interface HostileDocument {
  readonly name: string;
  readonly step: string | RegExp;
  /** How many requests for this document may be made; undefined if it does not matter. */
  readonly requests?: number;
  answer(response: ServerResponse, path: string, origin: string): void;
}

const JSON_TYPE = { "content-type": "application/json" };
const body = (text: string, type = "application/json") => ({
  answer: (response: ServerResponse) => void response.writeHead(200, { "content-type": type }).end(text),
});
const status = (code: number) => ({
  answer: (response: ServerResponse) => void response.writeHead(code, JSON_TYPE).end("{}"),
});
const redirect = (location: (path: string, origin: string) => string, code = 302) => ({
  answer: (response: ServerResponse, path: string, origin: string) =>
    void response.writeHead(code, { location: location(path, origin) }).end(),
});

/** Hardening 6.2, items 2 and 4. */
export const HOSTILE_DOCUMENTS: readonly HostileDocument[] = [
  { name: "not JSON", step: /: (?!found)/, ...body("<html>") },
  { name: "JSON as HTML", step: "not JSON", ...body("{}", "text/html") },
  { name: "JSON as text", step: "not JSON", ...body("{}", "text/plain") },
  { name: "a type that only begins like JSON", step: "not JSON", ...body("{}", "application/jsonx") },
  { name: "a list", step: "not a JSON object", ...body("[]") },
  { name: "null", step: "not a JSON object", ...body("null") },
  { name: "a number", step: "not a JSON object", ...body("1") },
  { name: "nothing", step: /: (?!found)/, ...body("") },
  { name: "more than 256 KiB", step: /262144|256/, ...body(`{"x":"${"a".repeat(300_000)}"}`) },
  { name: "HTTP 401", step: "HTTP 401", ...status(401) },
  { name: "HTTP 403", step: "HTTP 403", ...status(403) },
  { name: "HTTP 404", step: "HTTP 404", ...status(404) },
  { name: "HTTP 500", step: "HTTP 500", ...status(500) },
  { name: "HTTP 204", step: "HTTP 204", ...status(204) },
  {
    name: "a redirect to another origin",
    step: "redirects to another origin, which is never followed",
    ...redirect(() => "https://evil.example/"),
  },
  {
    name: "a redirect to the metadata service of a cloud",
    step: "redirects to another origin, which is never followed",
    ...redirect(() => "http://169.254.169.254/latest"),
  },
  {
    name: "a redirect to another port",
    step: "redirects to another origin, which is never followed",
    ...redirect((path, origin) => `${new URL(origin).protocol}//127.0.0.1:1${path}`, 307),
  },
  {
    name: "a redirect to a file",
    step: "redirects to another origin, which is never followed",
    ...redirect(() => "file:///etc/passwd", 301),
  },
  {
    name: "a redirect to a script",
    step: "redirects to another origin, which is never followed",
    ...redirect(() => "javascript:alert(1)", 308),
  },
  {
    name: "a redirect with credentials",
    step: "contains credentials, so it is not contacted",
    ...redirect((path, origin) => `${origin.replace("//", "//user:pass@")}${path}`),
  },
  { name: "a redirect to itself", step: "redirects more than 3 times", ...redirect((path) => path) },
  {
    name: "redirects without end",
    step: "redirects more than 3 times",
    ...redirect((path) => `${path}?${"x".repeat(path.length)}`, 303),
  },
  {
    name: "a connection that breaks",
    step: /: (?!found)/,
    answer: (response) => void response.destroy(),
  },
  {
    name: "a body that breaks off",
    step: /: (?!found)/,
    answer: (response) => {
      response.writeHead(200, { ...JSON_TYPE, "content-length": "100" }).write("{");
      setTimeout(() => response.destroy(), 5);
    },
  },
];
