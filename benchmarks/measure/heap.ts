import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { startHttp, stop } from "../child.js";
import type { Bench, Contender, Effort } from "../contender.js";
import { requestHeaders, requestText } from "../messages.js";
import { openSession } from "./http-load.js";

/** Heap that one idle session keeps, from a process that holds many. */
export const sessionHeap = (contender: Contender, effort: Effort) =>
  heapPer(contender, effort.quick ? 500 : 10_000, async (url, count) => {
    await inLanes(count, async () => {
      const { id } = await openSession(url);
      if (id === "") throw new Error("the server keeps no sessions");
    });
    return () => {};
  });

/** Heap that one open listen stream keeps, its connection included. */
export const streamHeap = (contender: Contender, effort: Effort) =>
  heapPer(contender, effort.quick ? 100 : 2000, async (url, count) => {
    const sockets: Socket[] = [];
    await inLanes(count, async (at) => {
      sockets.push(await openStream(new URL(url), at));
    });
    return () => {
      for (const socket of sockets) socket.destroy();
    };
  });

/** Each round is a fresh process: what a first filling leaves behind would make the second one look cheap. */
async function heapPer(
  contender: Contender,
  count: number,
  open: (url: string, count: number) => Promise<() => void>,
): Promise<Bench> {
  const program = { ...contender.program, node: ["--expose-gc"] };
  return {
    async round() {
      const { child, url } = await startHttp(program);
      try {
        // What is made once, for the first of its kind, belongs to none of them.
        const first = await open(url, 50);
        const before = await heapOf(child);
        const release = await open(url, count);
        const after = await heapOf(child);
        first();
        release();
        return { kilobytes: (after - before) / count / 1024 };
      } finally {
        await stop(child);
      }
    },
    close: async () => {},
  };
}

/** Heap in use of a program that was started with a garbage collector to call. */
export async function heapOf(child: ChildProcess): Promise<number> {
  // Replies that are on their way hold memory too; a short rest lets them go.
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.send("heap");
  const [message] = await once(child, "message");
  // The programs of this folder send nothing else.
  return (message as { heap: number }).heap;
}

/** Runs `count` jobs, 16 at a time. */
export async function inLanes(count: number, job: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await job(next);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

/** Opens a listen stream by hand and waits for its first event. */
export function openStream(url: URL, id: number, notifications: object = { toolsListChanged: true }): Promise<Socket> {
  const body = requestText("2026", id, "subscriptions/listen", { notifications });
  const headers = Object.entries(requestHeaders("2026", "subscriptions/listen"))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    let text = "";
    socket.setEncoding("utf8");
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`the stream ended: ${text.slice(0, 300)}`)));
    socket.on("data", (chunk: string) => {
      if (text.length > 4000) return;
      text += chunk;
      if (!text.startsWith("HTTP/1.1 200")) reject(new Error(`no stream: ${text.slice(0, 300)}`));
      else if (text.includes("data:")) resolve(socket);
    });
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`,
    );
  });
}
