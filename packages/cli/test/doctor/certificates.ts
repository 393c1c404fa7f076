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

/** Makes a certificate for this machine that is signed by itself, and is valid for two days, or has ended years ago. */
export function makeCertificate({ names = "IP:127.0.0.1,DNS:localhost", isExpired = false } = {}): KeyPair {
  const folder = mkdtempSync(join(tmpdir(), "parley-certificate-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const run = (line: string) => execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "pipe" });
  try {
    const key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem";
    run(`req -new ${key} -subj /CN=doctor-test -out request.pem`);
    if (isExpired) {
      // Only `ca` takes dates of the past.
      write("ca.cnf", CA_SETTINGS);
      write("index", "");
      write("serial", "01\n");
      const dates = "-startdate 20200101000000Z -enddate 20200201000000Z";
      run(`ca -batch -config ca.cnf -selfsign -keyfile key.pem -in request.pem ${dates} -notext -out cert.pem`);
    } else {
      run(`req -x509 -key key.pem -subj /CN=doctor-test -days 2 -addext subjectAltName=${names} -out cert.pem`);
    }
    return { key: read("key.pem"), cert: read("cert.pem") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const CA_SETTINGS = `[ca]
default_ca = own
[own]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = names
[names]
commonName = supplied
`;

/** Serves https until the test ends, and gives the port. */
export async function serveTls(pair: KeyPair): Promise<number> {
  const server = createServer(pair, (_request, response) => response.end("{}"));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return portOf(server);
}
