import { printable } from "@parley/mcp/protocol";

/** An address of a server as a whole, its host apart from the rest, and why somebody should look twice. */
export function ShownAddress({ address }: { readonly address: string }) {
  const { before, host, after, warnings } = addressParts(address);
  return (
    <>
      <p class="parts-address">
        {printable(before)}
        <strong>{printable(host)}</strong>
        {printable(after)}
      </p>
      {warnings.length > 0 && (
        <ul class="parts-warnings" aria-label="Look twice">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** An address in pieces, so that its host can be told from the rest. */
interface AddressParts {
  readonly before: string;
  readonly host: string;
  readonly after: string;
  /** Why somebody should look twice. */
  readonly warnings: readonly string[];
  /** Whether it can be opened at all. */
  readonly canOpen: boolean;
}

/** Takes an address of a server apart, as a browser would visit it. */
export function addressParts(given: string): AddressParts {
  if (!URL.canParse(given)) {
    return { before: given, host: "", after: "", warnings: ["This is no address."], canOpen: false };
  }
  const url = new URL(given);
  const canOpen = url.protocol === "https:" || url.protocol === "http:";
  if (!canOpen) {
    const warnings = [`Addresses of the kind ${url.protocol} are not opened.`];
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
    warnings.push("What stands before the @ is a user name, not the host.");
  }
  if (/(?:^|\.)xn--/.test(url.hostname)) {
    warnings.push("The host is written with letters of other alphabets, which can look like common ones.");
  }
  if (url.protocol === "http:" && !isLoopback) warnings.push("The connection is not encrypted.");
  if (/^\[|^[0-9.]+$/.test(url.hostname) && !isLoopback) warnings.push("The host is a number, not a name.");
  if (isLoopback) warnings.push("The host is this machine.");
  if (/[\p{Cc}\p{Cf}]/u.test(given)) warnings.push("The address has characters that cannot be seen.");
  return warnings;
}
