import { printable } from "@parley/mcp/protocol";

/** A URL from a server in full, with its host highlighted and with warnings. */
export function AddressView({ address }: { readonly address: string }) {
  const { before, host, after, warnings } = parseAddress(address);
  return (
    <>
      <p class="parts-address">
        {printable(before)}
        <strong>{printable(host)}</strong>
        {printable(after)}
      </p>
      {warnings.length > 0 && (
        <ul class="parts-warnings" aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A URL split around its host. */
interface ParsedAddress {
  readonly before: string;
  readonly host: string;
  readonly after: string;
  /** Reasons to be careful with the URL. */
  readonly warnings: readonly string[];
  /** True if the page may open the URL. */
  readonly canOpen: boolean;
}

/** Splits a URL from a server, as a browser would open it. */
export function parseAddress(given: string): ParsedAddress {
  if (!URL.canParse(given)) {
    return { before: given, host: "", after: "", warnings: ["This is not a valid URL."], canOpen: false };
  }
  const url = new URL(given);
  const canOpen = url.protocol === "https:" || url.protocol === "http:";
  if (!canOpen) {
    const warnings = [`URLs that begin with ${url.protocol} cannot be opened.`];
    return { before: given, host: "", after: "", warnings, canOpen };
  }
  const login =
    url.username === "" && url.password === "" ? "" : `${url.href.slice(url.protocol.length + 2).split("@", 1)[0]}@`;
  const before = `${url.protocol}//${login}`;
  return {
    before,
    host: url.host,
    after: url.href.slice(before.length + url.host.length),
    warnings: warningsOf(url, given),
    canOpen,
  };
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

function warningsOf(url: URL, given: string): readonly string[] {
  const warnings: string[] = [];
  const isLoopback = LOOPBACK.test(url.hostname);
  if (url.username !== "" || url.password !== "") {
    warnings.push("The part before the @ is a user name, not the host.");
  }
  if (/(?:^|\.)xn--/.test(url.hostname)) {
    warnings.push("The host contains letters other than a–z, which can imitate another host.");
  }
  if (url.protocol === "http:" && !isLoopback) warnings.push("The connection is not encrypted.");
  if (/^\[|^[0-9.]+$/.test(url.hostname) && !isLoopback) warnings.push("The host is an IP address, not a name.");
  if (isLoopback) warnings.push("The host is this machine.");
  if (/[\p{Cc}\p{Cf}]/u.test(given)) warnings.push("The URL contains invisible characters.");
  return warnings;
}
