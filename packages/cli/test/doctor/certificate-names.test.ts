import { connect, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { certificateFinding } from "../../src/doctor/network-steps.js";
import { makeCertificate, serveTls } from "./certificates.js";

/** Connects as a program that trusts this certificate. */
async function trusting(cert: string, port: number, host: string): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, ca: cert, servername: host, rejectUnauthorized: false });
  await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  return socket;
}

describe("a certificate that is trusted", () => {
  const pair = makeCertificate({ names: "DNS:shop.example" });

  it("is good for its own name", async () => {
    const socket = await trusting(pair.cert, await serveTls(pair), "shop.example");
    expect(certificateFinding(socket, "shop.example")).toBeUndefined();
    socket.destroy();
  });

  it("is refused for another name, with the names that it has", async () => {
    const socket = await trusting(pair.cert, await serveTls(pair), "other.example");
    expect(certificateFinding(socket, "other.example")).toEqual({
      code: "certificate_wrong_name",
      cause: "the certificate is for DNS:shop.example, not for other.example",
      fix: "Use the name that the certificate has, or get a certificate for this one.",
    });
    socket.destroy();
  });
});
