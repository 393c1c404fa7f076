/** An address that a document from the network may name, and why it must not be used. */
export interface HostileUrl {
  readonly url: string;
  readonly reason: string;
}

const LONG = `https://evil.example/${"a".repeat(2_050)}`;

/** Hardening 6.2, items 1 and 2; SEC-03 to SEC-05. */
export const HOSTILE_URLS: readonly HostileUrl[] = [
  { url: "file:///etc/passwd", reason: "has the scheme file:" },
  { url: "ms-msdt:/id%20PCWDiagnostic", reason: "has the scheme ms-msdt:" },
  { url: "javascript:alert(1)", reason: "has the scheme javascript:" },
  { url: "data:text/html,<script>alert(1)</script>", reason: "has the scheme data:" },
  { url: "vbscript:msgbox(1)", reason: "has the scheme vbscript:" },
  { url: "blob:https://evil.example/1", reason: "has the scheme blob:" },
  { url: "ftp://evil.example/", reason: "has the scheme ftp:" },
  { url: "ws://evil.example/", reason: "has the scheme ws:" },
  { url: "search-ms:query=x", reason: "has the scheme search-ms:" },
  { url: "com.evil.app:/steal", reason: "has the scheme com.evil.app:" },
  { url: "-oProxyCommand=x", reason: "is not a valid URL" },
  { url: "//evil.example/x", reason: "is not a valid URL" },
  { url: "/relative", reason: "is not a valid URL" },
  { url: "https://", reason: "is not a valid URL" },
  { url: "http://evil.example/", reason: "uses http outside this machine" },
  { url: "HTTP://EVIL.EXAMPLE/", reason: "uses http outside this machine" },
  { url: "https://user@evil.example/", reason: "contains credentials" },
  { url: "https://:secret@evil.example/", reason: "contains credentials" },
  { url: "https://good.example%40evil.example@evil.example/", reason: "contains credentials" },
  { url: "https://evil.example/#fragment", reason: "has a fragment" },
  { url: "https://evil.example/#", reason: "has a fragment" },
  { url: "https://evil.example/a b", reason: "contains spaces, control characters or unescaped characters" },
  { url: "https://evil.example/\r\nx: y", reason: "contains spaces, control characters or unescaped characters" },
  { url: "https://evil.example/\u0000", reason: "contains spaces, control characters or unescaped characters" },
  { url: "https://evil.example/\u001b[2J", reason: "contains spaces, control characters or unescaped characters" },
  { url: "https://evil.example/\u202ecod.exe", reason: "contains spaces, control characters or unescaped characters" },
  { url: "https://\u0435vil.example/", reason: "contains spaces, control characters or unescaped characters" },
  { url: " https://evil.example/", reason: "contains spaces, control characters or unescaped characters" },
  { url: LONG, reason: "is longer than 2048 characters" },
  { url: "http://169.254.169.254/latest/meta-data/", reason: "is at a link-local address" },
  { url: "https://169.254.169.254/", reason: "is at a link-local address" },
  { url: "https://0xa9fea9fe/", reason: "is at a link-local address" },
  { url: "https://2852039166/", reason: "is at a link-local address" },
  { url: "https://[fe80::1]/", reason: "is at a link-local address" },
  { url: "https://10.0.0.1/", reason: "is at a private address" },
  { url: "https://172.16.0.1/", reason: "is at a private address" },
  { url: "https://192.168.0.1/", reason: "is at a private address" },
  { url: "https://100.64.0.1/", reason: "is at a private address" },
  { url: "https://012.0.0.1/", reason: "is at a private address" },
  { url: "https://[fd00:ec2::254]/", reason: "is at a private address" },
  { url: "https://[::ffff:169.254.169.254]/", reason: "is at a link-local address" },
  { url: "https://[::ffff:10.0.0.1]/", reason: "is at a private address" },
  { url: "https://[::ffff:0:169.254.169.254]/", reason: "is at a link-local address" },
  { url: "https://[64:ff9b::169.254.169.254]/", reason: "is at a link-local address" },
  { url: "https://[64:ff9b:1::1]/", reason: "is at a private address" },
  { url: "https://[2002:a9fe:a9fe::1]/", reason: "is at a link-local address" },
  { url: "https://[2002:a00:1::1]/", reason: "is at a private address" },
  { url: "https://[2001:4860::5efe:169.254.169.254]/", reason: "is at a link-local address" },
  { url: "https://[2001:4860::200:5efe:192.168.0.1]/", reason: "is at a private address" },
  { url: "https://0.0.0.0/", reason: "is at a reserved address" },
  { url: "https://[::]/", reason: "is at a reserved address" },
  { url: "https://224.0.0.1/", reason: "is at a reserved address" },
  { url: "https://192.0.2.1/", reason: "is at a reserved address" },
];

/** One of each kind, for places where the whole list would repeat itself. */
export const SOME_HOSTILE_URLS = HOSTILE_URLS.filter(
  ({ reason }, at) => HOSTILE_URLS.findIndex((other) => other.reason === reason) === at,
);
