import { checkServerIdentity, type PeerCertificate, type TLSSocket } from "node:tls";
import type { Finding } from "./checkup.js";

/** What is wrong with the certificate of a connection; undefined if it is good. */
export function certificateFinding(socket: TLSSocket, host: string): Finding | undefined {
  const certificate = socket.getPeerCertificate();
  const error = socket.authorized ? undefined : codeOfAuthorization(socket.authorizationError);
  if (error === undefined || error === "ERR_TLS_CERT_ALTNAME_INVALID") return wrongName(host, certificate);
  // Of several faults the first is reported; a new certificate must be got first, whoever signs it.
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
  cause: `the certificate of ${host} is signed by itself (${nameOf(certificate)}), and nobody vouches for it`,
  fix: "Use a certificate of a known authority, or trust this one: NODE_EXTRA_CA_CERTS=<file.pem> parley …",
});

const unknownIssuer: Describe = ({ issuer }, host) => ({
  code: "certificate_untrusted",
  cause: `the certificate of ${host} is signed by an authority that this machine does not know (${oneName(issuer?.CN) ?? "unnamed"})`,
  fix: "Let the server send the certificates in between, or trust the authority: NODE_EXTRA_CA_CERTS=<file.pem> parley …",
});

const UNTRUSTED: Readonly<Record<string, Describe>> = {
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: ({ valid_from }, host) => ({
    code: "certificate_not_yet_valid",
    cause: `the certificate of ${host} is valid from ${valid_from} on`,
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

/** Node gives the code as a text or as an error, whatever its types say. */
function codeOfAuthorization(error: unknown): string {
  if (typeof error === "string") return error;
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}

function nameOf({ subject }: PeerCertificate): string {
  return oneName(subject?.CN) ?? "without a name";
}

/** A name may be there several times, or not at all. */
function oneName(name: unknown): string | undefined {
  const first: unknown = Array.isArray(name) ? name[0] : name;
  return typeof first === "string" ? first.slice(0, 100) : undefined;
}
