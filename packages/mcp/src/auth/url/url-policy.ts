import { type AddressClass, addressClass } from "./address-class.js";

/** Which addresses a client may be sent to by documents that come from the network. */
export interface UrlPolicy {
  /** The reason why a URL must not be used, as the end of a sentence; undefined if it may. */
  problemOf(url: string): string | undefined;
  /** Whether a URL is at the MCP server itself, whose network the program has chosen. */
  isServer(url: string): boolean;
  /** Whether a connection to this IP address, which a name resolved to, may be made. */
  admits(address: string): boolean;
}

/** What the policy is made of. */
export interface UrlPolicyOptions {
  /** The MCP server. Documents may name hosts of the public internet, and of its own network where its address shows it. */
  server: string;
  /** Also private, link-local and loopback addresses, for servers inside a company. Default: false. */
  allowPrivateNetwork?: boolean | undefined;
}

const MAX_LENGTH = 2_048;
/** Everything outside printable ASCII: such characters are escaped in an honest URL. */
const UNESCAPED = /[^\x21-\x7e]/;

/**
 * Allows `https` everywhere, `http` on this machine only, and no address that the public internet cannot reach, unless the MCP
 * server has one of the same kind.
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
      if (url.protocol === "http:" && kind !== "loopback") return "uses http beyond this machine";
      return undefined;
    },
    isServer: (url) => URL.canParse(url) && URL.canParse(server) && new URL(url).origin === new URL(server).origin,
    admits: (address) => allowed.has(addressClass(address) ?? "reserved"),
  };
}

/** What is wrong with a URL whoever names it. */
export function formProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  if (UNESCAPED.test(text)) return "contains spaces, control characters or unescaped characters";
  if (!URL.canParse(text)) return "is not a valid URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return `has the scheme ${url.protocol}`;
  if (url.username !== "" || url.password !== "") return "contains credentials";
  if (text.includes("#")) return "has a fragment";
  return undefined;
}
