import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { portOf } from "./examine.js";

/** A key and a certificate that is signed by itself, as PEM. */
interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** Makes a certificate for this machine, which is valid from today for some days; a negative number has ended already. */
export function makeCertificate({ names = "IP:127.0.0.1,DNS:localhost", isExpired = false } = {}): KeyPair {
  const folder = mkdtempSync(join(tmpdir(), "parley-certificate-"));
  const at = (name: string) => join(folder, name);
  const run = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  try {
    run(
      "req",
      "-new",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      "/CN=doctor test",
      "-keyout",
      at("key.pem"),
      "-out",
      at("request.pem"),
    );
    if (!isExpired) {
      run(
        "req",
        "-x509",
        "-key",
        at("key.pem"),
        "-subj",
        "/CN=doctor test",
        "-days",
        "2",
        "-addext",
        `subjectAltName=${names}`,
        "-out",
        at("cert.pem"),
      );
    } else {
      // Only `ca` takes dates of the past.
      const config =
        "[ca]\ndefault_ca=c\n[c]\ndatabase=index\nnew_certs_dir=.\nserial=serial\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n";
      writeFileSync(at("ca.cnf"), config);
      writeFileSync(at("index"), "");
      writeFileSync(at("serial"), "01\n");
      run(
        "ca",
        "-batch",
        "-config",
        at("ca.cnf"),
        "-selfsign",
        "-keyfile",
        at("key.pem"),
        "-in",
        at("request.pem"),
        "-startdate",
        "20200101000000Z",
        "-enddate",
        "20200201000000Z",
        "-notext",
        "-out",
        at("cert.pem"),
      );
    }
    return { key: readFileSync(at("key.pem"), "utf8"), cert: readFileSync(at("cert.pem"), "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Serves https until the test ends, and gives the port. */
export async function serveTls(pair: KeyPair): Promise<number> {
  const server = createServer(pair, (_request, response) => response.end("{}"));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return portOf(server);
}
