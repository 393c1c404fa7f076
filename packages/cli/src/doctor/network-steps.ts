import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type PeerCertificate, type TLSSocket } from "node:tls";
import { CheckFailure, type Checkup, type Finding, NotApplicable } from "./checkup.js";

/** Time limit for opening one connection. */
const OPEN_MS = 10_000;

/** Resolves the host, opens a connection and checks its certificate. */
export async function checkNetwork(url: URL, checkup: Checkup, checksCertificates: boolean): Promise<void> {
  const place = hostAndPort(url);
  await checkup.step("dns", () => resolveName(place.host));
  await checkup.step("tcp", async ({ signal }) => {
    const socket = await openTcp(place, checkup.budget(OPEN_MS), signal);
    socket.destroy();
    return `${place.host} port ${place.port}`;
  });
  await checkup.step("tls", async ({ signal, warn }) => {
    if (url.protocol === "http:") {
      if (isLoopback(place.host)) throw new NotApplicable("plain http on this machine");
      warn(
        "plain_http",
        `${url.host} is reached over plain http: anyone on the network path can read and change the messages`,
        "Use https for a server on another machine.",
      );
      return "plain http";
    }
    const socket = await openTls(place, checkup.budget(OPEN_MS), signal);
    const finding = certificateFinding(socket, place.host);
    const protocol = socket.getProtocol() ?? "TLS";
    socket.destroy();
    if (finding === undefined) return protocol;
    if (checksCertificates) throw new CheckFailure(finding);
    warn("certificate_ignored", `${finding.cause}; NODE_TLS_REJECT_UNAUTHORIZED=0 hides it`, finding.fix);
    return `${protocol}, certificate not checked`;
  });
}

/** The host and port of a server. */
interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Returns the host, without the brackets of an IPv6 address, and the port. */
export function hostAndPort(url: URL): HostAndPort {
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port };
}

/** True if the host is a loopback name or address. Does not resolve names. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** True if the server speaks TLS, with any certificate. */
export async function speaksTls(place: HostAndPort, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    (await openTls(place, ms, signal)).destroy();
    return true;
  } catch {
    return false;
  }
}

async function resolveName(host: string): Promise<string> {
  if (isIP(host) !== 0) return `${host} is an IP address`;
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address).join(", ");
  } catch (error) {
    throw new CheckFailure(nameFinding(host, codeOf(error)));
  }
}

function nameFinding(host: string, code: string): Finding {
  return code === "EAI_AGAIN"
    ? {
        code: "dns_unavailable",
        cause: `the name ${host} could not be resolved: no DNS server answered (${code})`,
        fix: "Check the network and the DNS settings of this machine, and the spelling of the name.",
      }
    : {
        code: "unknown_host",
        cause: `the host ${host} does not exist (${code})`,
        fix: "Correct the host in the URL, or add the name to your DNS.",
      };
}

function openTcp({ host, port }: HostAndPort, ms: number, signal: AbortSignal): Promise<Socket> {
  return waitFor(connectTcp({ host, port, signal }), "connect", ms).catch((error: unknown) => {
    throw new CheckFailure(tcpFinding({ host, port }, codeOf(error), ms));
  });
}

function tcpFinding({ host, port }: HostAndPort, code: string, ms: number): Finding {
  if (code === "ECONNREFUSED") {
    return {
      code: "refused",
      cause: `nothing is listening at ${host} port ${port} (${code})`,
      fix: "Start the server, or check the port. A server in a container must listen on 0.0.0.0 and publish its port.",
    };
  }
  if (code === TIMED_OUT) {
    return {
      code: "tcp_timeout",
      cause: `${host} port ${port} did not accept a connection within ${ms} ms`,
      fix: "Check the address, and whether a firewall drops connections to this port.",
    };
  }
  return {
    code: "no_route",
    cause: `${host} port ${port} cannot be reached (${code})`,
    fix: "Check the network of this machine, its VPN and its firewall.",
  };
}

async function openTls({ host, port }: HostAndPort, ms: number, signal: AbortSignal): Promise<TLSSocket> {
  const tcp = connectTcp({ host, port, signal });
  // The connection accepts any certificate, so that this step can report why a certificate is invalid.
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = connectTls({ socket: tcp, host, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"], ...name });
  tcp.on("error", (error) => socket.destroy(error));
  try {
    return await waitFor(socket, "secureConnect", ms);
  } catch (error) {
    throw new CheckFailure(tlsFinding({ host, port }, error, ms));
  }
}

function tlsFinding({ host, port }: HostAndPort, error: unknown, ms: number): Finding {
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (/wrong.version.number|packet length too long|http request/i.test(text)) {
    return {
      code: "not_tls",
      cause: `${host} port ${port} does not speak TLS; it is likely plain http`,
      fix: "Write http:// instead of https://, or use the port that has TLS.",
    };
  }
  return {
    code: "tls_failed",
    cause: `the TLS handshake with ${host} port ${port} failed: ${code === TIMED_OUT ? `no answer within ${ms} ms` : `${text.trim().slice(0, 200)} (${code})`}`,
    fix: "Check that this port serves https, and which TLS versions and client certificates the server requires.",
  };
}

const TIMED_OUT = "silent";

/** Waits for one event of a socket. Rejects if the socket fails, closes or times out first. */
function waitFor<S extends Socket>(socket: S, event: string, ms: number): Promise<S> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(Object.assign(new Error("no answer"), { code: TIMED_OUT })), ms);
    socket.once(event, () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.on("error", reject);
    socket.once("close", () => {
      clearTimeout(timer);
      reject(Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" }));
    });
  });
}

/** The code of a network error. If several addresses were tried, the code of the first attempt. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}

/** Describes what is wrong with the certificate of a connection. Undefined if the certificate is valid. */
export function certificateFinding(socket: TLSSocket, host: string): Finding | undefined {
  const certificate = socket.getPeerCertificate();
  const error = socket.authorized ? undefined : codeOfAuthorization(socket.authorizationError);
  if (error === undefined || error === "ERR_TLS_CERT_ALTNAME_INVALID") return wrongName(host, certificate);
  // An expired certificate must be replaced even if its issuer is trusted, so report the expiry before an unknown
  // issuer.
  if (Date.parse(certificate.valid_to) < Date.now()) return expired(certificate, host);
  return (UNTRUSTED[error] ?? otherwise(error))(certificate, host);
}

type Describe = (certificate: PeerCertificate, host: string) => Finding;

const expired: Describe = ({ valid_to }, host) => ({
  code: "certificate_expired",
  cause: `the certificate of ${host} expired on ${valid_to}`,
  fix: "Renew it on the server, and check the clock of this machine.",
});

const selfSigned: Describe = (certificate, host) => ({
  code: "certificate_self_signed",
  cause: `the certificate of ${host} is self-signed (${nameOf(certificate)})`,
  fix: "Use a certificate of a known authority, or trust this one: NODE_EXTRA_CA_CERTS=<file.pem> parley …",
});

const unknownIssuer: Describe = ({ issuer }, host) => ({
  code: "certificate_untrusted",
  cause: `the certificate of ${host} was issued by an authority that this machine does not trust (${firstName(issuer?.CN) ?? "unnamed"})`,
  fix: "Let the server send the intermediate certificates, or trust the authority: NODE_EXTRA_CA_CERTS=<file.pem> parley …",
});

const UNTRUSTED: Readonly<Record<string, Describe>> = {
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: ({ valid_from }, host) => ({
    code: "certificate_not_yet_valid",
    cause: `the certificate of ${host} is not valid before ${valid_from}`,
    fix: "Check the clock of this machine, and the certificate of the server.",
  }),
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
};

function otherwise(code: string): Describe {
  return (_certificate, host) => ({
    code: "certificate_untrusted",
    cause: `the certificate of ${host} is not accepted (${code})`,
    fix: "Correct the certificate of the server.",
  });
}

function wrongName(host: string, certificate: PeerCertificate): Finding | undefined {
  if (checkServerIdentity(host, certificate) === undefined) return undefined;
  const names = certificate.subjectaltname ?? nameOf(certificate);
  return {
    code: "certificate_wrong_name",
    cause: `the certificate is for ${names.slice(0, 200)}, not for ${host}`,
    fix: "Use the name that the certificate has, or get a certificate for this one.",
  };
}

/** Returns the code of `authorizationError`, which is a string or an error, although Node declares only an error. */
function codeOfAuthorization(error: unknown): string {
  if (typeof error === "string") return error;
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}

function nameOf({ subject }: PeerCertificate): string {
  return firstName(subject?.CN) ?? "without a name";
}

/** Returns the name, or the first name if the certificate lists several. Undefined if there is none. */
function firstName(name: unknown): string | undefined {
  const first: unknown = Array.isArray(name) ? name[0] : name;
  return typeof first === "string" ? first.slice(0, 100) : undefined;
}
