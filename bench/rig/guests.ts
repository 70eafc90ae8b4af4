// How does a bench have somebody join and leave all the time?
import { type MeshNode, startNode } from "../../mod.ts";
import { localOptions } from "./local_nodes.ts";

const service = "guest";
const askAgainAfterMs = 100;

/** One guest at a time: whenever one leaves, a stranger joins, offers a service and is asked for it once. */
export class Guests {
  /** Guests that were asked and answered. */
  servedCount = 0;
  leftCount = 0;
  private readonly timer: ReturnType<typeof setInterval>;
  private last: Promise<MeshNode | undefined> = Promise.resolve(undefined);

  /** @param head Through which guests join and are asked. */
  constructor(
    private readonly head: { readonly url: string; readonly multiaddrs: readonly string[] },
    private readonly everyMs: number,
  ) {
    this.timer = setInterval(() => {
      this.last = this.last.then((guest) => this.replace(guest));
    }, everyMs);
  }

  /** @throws {Error} What kept a guest from joining. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.leave(await this.last);
  }

  private async replace(guest: MeshNode | undefined): Promise<MeshNode> {
    await this.leave(guest);
    const handler = () => new Response("welcome");
    const next = await startNode({
      ...localOptions,
      bootstrap: this.head.multiaddrs,
      services: [{ name: service, handler }],
    });
    if (await this.isServed(next)) this.servedCount++;
    return next;
  }

  private async isServed({ peerId }: MeshNode): Promise<boolean> {
    const endMs = performance.now() + this.everyMs / 2;
    while (performance.now() < endMs) {
      const response = await fetch(`${this.head.url}/v1/p2p/${peerId}/v1/service/${service}/`);
      await response.body?.cancel();
      if (response.status === 200) return true;
      await new Promise((resolve) => setTimeout(resolve, askAgainAfterMs));
    }
    return false;
  }

  private async leave(guest: MeshNode | undefined): Promise<void> {
    if (guest === undefined) return;
    await guest.stop({ drainMs: 0 });
    this.leftCount++;
  }
}
