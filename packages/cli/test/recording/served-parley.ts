import { PassThrough } from "node:stream";
import { runProgram } from "../../src/program.js";

/** A command line that serves over HTTP in this process. */
export interface ServedParley extends AsyncDisposable {
  readonly url: string;
}

/** Runs a command line until it says where it serves. Disposing interrupts it and waits for its end. */
export async function servedParley(args: readonly string[], { cwd }: { readonly cwd: string }): Promise<ServedParley> {
  const interrupt = new AbortController();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  let said = "";
  const serving = new Promise<string>((resolve) => {
    stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, url] = /serving at (\S+)/.exec(said) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
  const env = { PATH: process.env["PATH"] };
  const io = { stdin, stdout, stderr, env, cwd, home: "/nonexistent", platform: process.platform };
  const ended = runProgram(args, { ...io, signal: interrupt.signal });
  const url = await Promise.race([serving, ended.then((code) => Promise.reject(new Error(`${code}: ${said}`)))]);
  return {
    url,
    async [Symbol.asyncDispose]() {
      interrupt.abort();
      await ended;
    },
  };
}
