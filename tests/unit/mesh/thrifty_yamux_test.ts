import { equal } from "node:assert/strict";
import type { MessageStream } from "@libp2p/interface";
import { StreamMessageEvent } from "@libp2p/interface";
import { silentLibp2pLog } from "../../../lib/mesh/silent_libp2p_log.ts";
import { thriftyYamux } from "../../../lib/mesh/thrifty_yamux.ts";

Deno.test("thriftyYamux ends a connection that closes while the other side still sends, and not the process", () => {
  let abortCount = 0;
  const closing = Object.assign(new EventTarget(), {
    log: silentLibp2pLog().forComponent("test"),
    direction: "inbound",
    send: () => {
      throw new Error("Cannot write to a stream that is closed");
    },
    abort: () => void abortCount++,
  });
  const muxer = thriftyYamux({})().createStreamMuxer(closing as unknown as MessageStream);
  equal(muxer.status, "open");
  // A ping, which asks for an answer: version 0, type 2, flag SYN.
  const ping = Uint8Array.of(0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7);
  closing.dispatchEvent(new StreamMessageEvent(ping));
  equal(abortCount, 1);
});
