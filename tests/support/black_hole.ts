// How does a test get an address that swallows connections?
import { within } from "./within.ts";

/** An endpoint on loopback that neither accepts nor refuses, as a dead host or a dropping firewall. */
export type BlackHole = { readonly hostname: string; readonly port: number; close(): void };

/** Fills the accept queue of a listener that never accepts: Linux then drops what else arrives. */
export async function openBlackHole(hostname = "127.0.0.1"): Promise<BlackHole> {
  // Deno knows `tcpBacklog`, its types do not.
  const options = { hostname, port: 0, tcpBacklog: 1 };
  const listener = Deno.listen(options);
  const { port } = listener.addr as Deno.NetAddr;
  const held: Deno.Conn[] = [];
  for (let isFull = false; !isFull;) {
    const giveUp = new AbortController();
    const dial = Deno.connect({ hostname, port, signal: giveUp.signal });
    await within(200, dial).then((socket) => held.push(socket), () => isFull = true);
    if (isFull) giveUp.abort();
    await dial.catch(() => {});
  }
  const close = () => [...held, listener].forEach((each) => each.close());
  return { hostname, port, close };
}
