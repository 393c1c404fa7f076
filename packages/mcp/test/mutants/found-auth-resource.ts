import type { Mutant } from "./mutant.js";

/** Defects of protected servers and of what stays open after a login has ended, written back into the sources. */
export const FOUND_AUTH_RESOURCE: readonly Mutant[] = [
  {
    name: "proofs-of-one-key-lock-out-all",
    recreates: "used proofs are limited for all keys together, so that one caller makes those of others be refused",
    file: "auth/resource/dpop-proof.ts",
    search: "if (known !== undefined && known.ends.size >= most) {",
    replace: "if (isFull) {\n      if (known === undefined) throw new TooManyProofs(1);",
    tests: ["src/auth/resource/seen-proofs.test.ts"],
  },
  {
    name: "proofs-beyond-limit-as-invalid",
    recreates: "a caller who sends many proofs is told that its token is invalid, and logs in again",
    file: "auth/resource/protected-resource.ts",
    search: "if (error instanceof TooManyProofs) {",
    replace:
      'if (error instanceof TooManyProofs) return this.#refused("invalid_token", scheme, { reason: "rejected", message: "" });\n    if (error instanceof RangeError) {',
    tests: ["test/auth/resource-dpop.test.ts"],
  },
  {
    name: "evicts-honest-proofs",
    recreates: "when too many proofs are remembered, those of a key with few are forgotten, and can be used again",
    file: "auth/resource/dpop-proof.ts",
    search: "const [greediest] = this.#bySize[this.#largest] ?? [];",
    replace: "const [greediest] = this.#keys.values();",
    tests: ["src/auth/resource/seen-proofs.test.ts"],
  },
  {
    name: "revoked-login-stays-open",
    recreates: "streams and sockets of a login that was revoked stay open until its token expires",
    file: "transport/at-expiry.ts",
    search: "whenReady(principal?.onRevoked?.(revoked), (removal) => {",
    replace: "whenReady(() => revoked, (removal) => {",
    tests: ["test/auth/revoked-logins.test.ts", "test/stdio/expiring-credentials.test.ts", "test/http/expiry.test.ts"],
  },
  {
    name: "revocation-stays-on-node",
    recreates: "a login that is revoked on one node keeps its streams on others",
    file: "auth/proxy/proxy-grants.ts",
    search: "await this.#storage.pubsub.publish(TOPIC, key);",
    replace: "",
    tests: ["src/auth/proxy/revocations.test.ts"],
  },
  {
    name: "revocation-missed-in-gap",
    recreates: "a login that is revoked while messages are lost keeps its streams",
    file: "auth/proxy/proxy-grants.ts",
    search: "() => void this.#check([...this.#watchers.keys()]),",
    replace: "() => {},",
    tests: ["src/auth/proxy/revocations.test.ts"],
  },
  {
    name: "refusals-unreported",
    recreates: "nobody can learn why a token was refused",
    file: "auth/resource/protected-resource.ts",
    search: "this.#reports.report(request, refusal.status, cause, token);",
    replace: "",
    tests: ["test/auth/resource-refusals.test.ts"],
  },
  {
    name: "refused-senders-uncounted",
    recreates: "metrics do not show why senders are refused",
    file: "transport/authentication.ts",
    search: "endpoint?.senderRefused?.(refusal);",
    replace: "",
    tests: ["test/auth/resource-refusals.test.ts", "test/telemetry/conventions.test.ts"],
  },
  {
    name: "missing-issuer-unnamed",
    recreates: "without an issuer, `resourceServer` fails with a TypeError",
    file: "auth/resource/resource-server.ts",
    search: 'if (typeof one === "object" && one !== null && "issuer" in one) return one as TrustedIssuer;',
    replace: "if (fix !== undefined) return one as TrustedIssuer;",
    tests: ["test/auth/resource-answers.test.ts"],
  },
];
