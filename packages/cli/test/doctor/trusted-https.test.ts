import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server } from "../fixtures/fixture-server.js";
import { BuiltParley, isBuilt } from "../run/built-parley.js";
import { makeCertificate } from "./certificates.js";
import type { Examined } from "./examine.js";

/** Node reads whom it trusts when it starts, so these run in processes of their own. */
describe.skipIf(!isBuilt)("parley doctor of a server with https", () => {
  let folder: string;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
    const pair = makeCertificate();
    writeFileSync(join(folder, "cert.pem"), pair.cert);
    handle = await serveHttp(server, { port: 0, tls: pair });
  });
  afterAll(async () => {
    await handle?.close();
    rmSync(folder, { recursive: true });
  });

  async function examineWith(env: Record<string, string>): Promise<{ code: unknown; answer: Examined }> {
    await using parley = new BuiltParley(["doctor", "--json", handle.url], { cwd: folder, env });
    const code = await parley.ended();
    // The form that the documentation of the command promises.
    return { code, answer: JSON.parse(parley.stdout) as Examined };
  }

  it("accepts a certificate that the machine trusts, under foreign hosts too", async () => {
    const { code, answer } = await examineWith({ NODE_EXTRA_CA_CERTS: join(folder, "cert.pem") });
    expect(answer.broken).toBeUndefined();
    expect(code).toBe(0);
    expect(answer.steps.find(({ step }) => step === "tls")).toMatchObject({ status: "ok", detail: "TLSv1.3" });
    expect(answer.steps.find(({ step }) => step === "host")?.detail).toBe("unknown hosts and origins are refused");
  });

  it("warns where the user lets every certificate pass", async () => {
    const { code, answer } = await examineWith({ NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    expect(code).toBe(0);
    const [finding] = answer.steps.find(({ step }) => step === "tls")?.findings ?? [];
    expect(finding).toMatchObject({
      code: "certificate_ignored",
      cause: expect.stringContaining("NODE_TLS_REJECT_UNAUTHORIZED=0 hides it"),
    });
  });
});
