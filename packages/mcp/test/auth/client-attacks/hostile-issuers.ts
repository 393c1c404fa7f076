/** How a document may spell an issuer other than the one that was asked; `of` makes it from the right one. */
export interface OtherIssuer {
  readonly name: string;
  of(issuer: string): unknown;
}

/** AUTHC-10, AUTHC-20: compared as plain text. */
export const OTHER_ISSUERS: readonly OtherIssuer[] = [
  { name: "another host", of: () => "https://evil.example" },
  { name: "a slash at the end", of: (issuer) => `${issuer}/` },
  { name: "capital letters", of: (issuer) => issuer.replace("http", "HTTP") },
  { name: "an escape", of: (issuer) => issuer.replace("127", "%3127") },
  { name: "another scheme", of: (issuer) => issuer.replace("http:", "https:") },
  { name: "another port", of: (issuer) => issuer.replace(/:\d+$/, ":1") },
  { name: "a path", of: (issuer) => `${issuer}/tenant` },
  { name: "a query", of: (issuer) => `${issuer}?a=b` },
  { name: "a fragment", of: (issuer) => `${issuer}#` },
  { name: "a name for the address", of: (issuer) => issuer.replace("127.0.0.1", "localhost") },
  { name: "a space before", of: (issuer) => ` ${issuer}` },
  { name: "a zero byte after", of: (issuer) => `${issuer}\u0000` },
];

/** Values that are no issuer at all. */
export const NO_ISSUERS: readonly OtherIssuer[] = [
  { name: "missing", of: () => undefined },
  { name: "null", of: () => null },
  { name: "empty", of: () => "" },
  { name: "a number", of: () => 1 },
  { name: "a list", of: (issuer) => [issuer] },
  { name: "an object", of: (issuer) => ({ issuer }) },
];
