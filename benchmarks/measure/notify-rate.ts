import { once } from "node:events";
import type { Socket } from "node:net";
import { startHttp, stop } from "../child.js";
import type { Bench, Contender, Effort } from "../contender.js";
import { WATCHED } from "../messages.js";
import { inLanes, openStream } from "./heap.js";

const NOTICE = "notifications/resources/updated";

/** Notifications that reach subscribers over sockets of their own, each read to its end. */
export async function notifyRate({ program, setting = 1 }: Contender, effort: Effort): Promise<Bench> {
  const { child, url } = await startHttp(program);
  const sockets: Socket[] = [];
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await stop(child);
  };
  let heard = 0;
  try {
    await inLanes(setting, async (at) => {
      const socket = await openStream(new URL(url), at, { resourceSubscriptions: [WATCHED] });
      socket.removeAllListeners("data");
      socket.setEncoding("latin1");
      // The name may be cut in two.
      let tail = "";
      socket.on("data", (chunk: string) => {
        const text = tail + chunk;
        heard += countOf(text);
        tail = text.slice(1 - NOTICE.length);
      });
      socket.removeAllListeners("close");
      sockets.push(socket);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async round() {
      heard = 0;
      const started = performance.now();
      child.send({ notifyForMs: effort.roundMs });
      const [message] = await once(child, "message");
      const wanted = (message as { changes: number }).changes * setting;
      // What is on its way arrives; a subscriber that was left out never does.
      while (heard < wanted) {
        if (performance.now() - started > effort.roundMs + 10_000) throw new Error(`${heard} of ${wanted} arrived`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      return { perSecond: (heard / (performance.now() - started)) * 1000 };
    },
    close,
  };
}

function countOf(text: string): number {
  let count = 0;
  for (let at = text.indexOf(NOTICE); at !== -1; at = text.indexOf(NOTICE, at + NOTICE.length)) count += 1;
  return count;
}
