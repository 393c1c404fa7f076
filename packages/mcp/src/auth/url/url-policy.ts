/** Rules for addresses that a client learns from the network. */
export interface UrlPolicy {
  /** Returns the reason why a URL must not be used, as the end of a sentence. Undefined if the URL is allowed. */
  problemOf(url: string): string | undefined;
  /**
   * True if a URL is on the origin of the MCP server. The IP addresses of that origin are not checked, because the
   * program chose this server.
   */
  isServer(url: string): boolean;
  /** True if a connection to an IP address is allowed. Called with each address that a host name resolves to. */
  admits(address: string): boolean;
}

/** Options for `urlPolicy`. */
interface UrlPolicyOptions {
  /**
   * The address of the MCP server. If its host is an IP address or `localhost`, addresses of the same class are allowed
   * in addition to public ones.
   */
  server: string;
  /** Also allows private, link-local and loopback addresses, for servers inside a company. Default: false. */
  allowPrivateNetwork?: boolean | undefined;
}

const MAX_URL_LENGTH = 2_048;
/** All characters outside printable ASCII. A well-formed URL escapes them. */
const UNESCAPED = /[^\x21-\x7e]/;

/**
 * Creates a policy that allows `https` everywhere and `http` only on this machine. It rejects addresses that are not on
 * the public internet, unless the MCP server has an address of the same class or `allowPrivateNetwork` is set. It
 * always rejects reserved addresses.
 */
export function urlPolicy({ server, allowPrivateNetwork = false }: UrlPolicyOptions): UrlPolicy {
  const own = URL.canParse(server) ? addressClass(new URL(server).hostname) : undefined;
  const allowed = new Set<AddressClass>(["public"]);
  if (own !== undefined && own !== "reserved") allowed.add(own);
  if (allowPrivateNetwork) for (const kind of ["private", "link-local", "loopback"] as const) allowed.add(kind);
  return {
    problemOf(text) {
      const problem = formProblem(text);
      if (problem !== undefined) return problem;
      const url = new URL(text);
      const kind = addressClass(url.hostname);
      if (kind !== undefined && !allowed.has(kind)) return `is at a ${kind} address`;
      if (url.protocol === "http:" && kind !== "loopback") return "uses http outside this machine";
      return undefined;
    },
    isServer: (url) => URL.canParse(url) && URL.canParse(server) && new URL(url).origin === new URL(server).origin,
    admits: (address) => allowed.has(addressClass(address) ?? "reserved"),
  };
}

/**
 * Returns the problem with a URL itself, such as its scheme or length, regardless of its network. Undefined if there is
 * none.
 */
export function formProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`;
  if (UNESCAPED.test(text)) return "contains spaces, control characters or unescaped characters";
  if (!URL.canParse(text)) return "is not a valid URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return `has the scheme ${url.protocol}`;
  if (url.username !== "" || url.password !== "") return "contains credentials";
  if (text.includes("#")) return "has a fragment";
  return undefined;
}

/** The network from which an IP address can be reached. */
type AddressClass = "public" | "loopback" | "private" | "link-local" | "reserved";

/** First address of a network, its prefix length in bits, and its class. */
type Network = readonly [first: string, bits: number, kind: AddressClass];

// IANA special-purpose registries (RFC 6890 and its updates).
const IPV4: readonly Network[] = [
  ["0.0.0.0", 8, "reserved"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "reserved"],
  ["192.88.99.0", 24, "reserved"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "reserved"],
  ["198.51.100.0", 24, "reserved"],
  ["203.0.113.0", 24, "reserved"],
  ["224.0.0.0", 4, "reserved"],
  ["240.0.0.0", 4, "reserved"],
];

const IPV6: readonly Network[] = [
  ["::", 128, "reserved"],
  ["::1", 128, "loopback"],
  ["64:ff9b:1::", 48, "private"],
  ["100::", 64, "reserved"],
  // Teredo: the embedded addresses are obfuscated, and the service no longer exists.
  ["2001::", 32, "reserved"],
  ["2001:10::", 28, "reserved"],
  ["2001:20::", 28, "reserved"],
  ["2001:db8::", 32, "reserved"],
  ["3fff::", 20, "reserved"],
  ["fc00::", 7, "private"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "private"],
];

/**
 * IPv6 networks whose addresses contain an IPv4 address, and the index of the 16-bit group where that address begins.
 */
const EMBEDDING: readonly (readonly [first: string, bits: number, at: number])[] = [
  ["::ffff:0:0", 96, 6], // IPv4-mapped
  ["::", 96, 6], // IPv4-compatible
  ["::ffff:0:0:0", 96, 6], // IPv4-translated (SIIT)
  ["64:ff9b::", 96, 6], // NAT64
  ["2002::", 16, 1], // 6to4
];

/**
 * Classifies the host of a URL, as `URL` spells it, or an address that a name resolved to. Undefined for names other
 * than `localhost`.
 *
 * Only the runtime's URL parser reads addresses, so that no spelling (octal, hexadecimal, short) is interpreted
 * differently here than where the connection is made.
 */
export function addressClass(host: string): AddressClass | undefined {
  const plain = host.startsWith("[") ? host.slice(1, -1) : host;
  const canonical = canonicalHost(plain);
  if (canonical === undefined) return undefined;
  if (!canonical.startsWith("["))
    return isDotted(canonical) ? classOfIpv4(groupsOfIpv4(canonical)) : nameClass(canonical);
  return classOfIpv6(groupsOfIpv6(canonical.slice(1, -1)));
}

/** RFC 6761: these names always mean this machine, whatever a resolver returns. */
function nameClass(name: string): AddressClass | undefined {
  return name === "localhost" || name.endsWith(".localhost") ? "loopback" : undefined;
}

function canonicalHost(host: string): string | undefined {
  // The zone, as in fe80::1%eth0, is not part of the address.
  const address = host.includes(":") ? `[${host.split("%", 1)[0]}]` : host;
  const url = `http://${address.replace(/\.$/, "")}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

const isDotted = (host: string) => /^\d+\.\d+\.\d+\.\d+$/.test(host);

function groupsOfIpv4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

function groupsOfIpv6(text: string): number[] {
  const [head = "", tail] = text.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail ?? "")];
  if (tail === undefined) return before;
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function within(groups: readonly number[], first: readonly number[], bits: number): boolean {
  return first.every((group, at) => {
    const wanted = Math.min(16, Math.max(0, bits - at * 16));
    const mask = (0xffff << (16 - wanted)) & 0xffff;
    return ((groups[at] ?? 0) & mask) === (group & mask);
  });
}

function classOfIpv4(groups: readonly number[]): AddressClass {
  return IPV4.find(([first, bits]) => within(groups, groupsOfIpv4(first), bits))?.[2] ?? "public";
}

function classOfIpv6(groups: readonly number[]): AddressClass {
  const known = IPV6.find(([first, bits]) => within(groups, groupsOfIpv6(first), bits));
  if (known !== undefined) return known[2];
  const embedding = EMBEDDING.find(([first, bits]) => within(groups, groupsOfIpv6(first), bits));
  if (embedding !== undefined) return classOfIpv4(groups.slice(embedding[2], embedding[2] + 2));
  // ISATAP: the last 64 bits are 0000:5efe or 0200:5efe and an IPv4 address.
  if (groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0) return classOfIpv4(groups.slice(6));
  // Only 2000::/3 is assigned to the public internet.
  return ((groups[0] ?? 0) & 0xe000) === 0x2000 ? "public" : "reserved";
}
