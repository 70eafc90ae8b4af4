// Do lanes still say what version 1 said? A fleet runs mixed versions, so these bytes are a promise.
import { deepEqual } from "node:assert/strict";
import { FrameReader, FrameType } from "../../../lib/lane/frame.ts";
import { LanePair, type Wire } from "../../support/lane_pair.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Frames as `type id payload`, hexadecimal. */
function keepFrames(wire: Wire): string[] {
  const lines: string[] = [];
  const reader = new FrameReader();
  const send = wire.send.bind(wire);
  const names = new Map<number, string>(
    Object.entries(FrameType).map(([name, type]) => [type, name]),
  );
  wire.send = (batch) => {
    reader.push(batch, (type, id, payload) => {
      const hex = Array.from(payload, (byte) => byte.toString(16).padStart(2, "0")).join("");
      lines.push(`${names.get(type)} ${type} ${id} ${hex}`);
    });
    return send(batch);
  };
  return lines;
}

/** An answer in pieces, a whole one, a failure, a cancel, a refused body and a WebSocket: every type of frame. */
function conversation(): { requester: string[]; responder: string[] } {
  const pair = new LanePair();
  const requester = keepFrames(pair.toResponder);
  const responder = keepFrames(pair.toRequester);
  const streamed = pair.open(bytes("{"), false, { h: ["accept", "*/*"] });
  pair.settle();
  const first = pair.served[0].exchange;
  streamed.exchange.sendBody(bytes("}"));
  streamed.exchange.endBody();
  first.head(200, ["x-a", "é"]);
  pair.settle();
  first.data(bytes("data: 1\n\n"));
  streamed.exchange.consumed(32 * 1024, 0);
  first.end(["x-usage", "7"], 3);
  pair.settle();
  pair.open(bytes("{}"));
  pair.settle();
  const second = pair.served[1].exchange;
  second.head(200, []);
  second.data(bytes("ok"));
  second.end([], 0);
  pair.settle();
  pair.open();
  pair.settle();
  pair.served[2].exchange.fail("engine_unreachable", "refused", "no engine");
  const canceled = pair.open(bytes("x"), false);
  pair.settle();
  pair.served[3].exchange.refuseBody();
  pair.settle();
  canceled.exchange.cancel();
  const socket = pair.open(undefined, false, { u: 1, m: "GET" });
  pair.settle();
  const last = pair.served[4].exchange;
  last.head(101, []);
  last.sendMessage(true, bytes("hi"));
  pair.settle();
  socket.exchange.sendMessage(false, new Uint8Array([1, 2]));
  socket.exchange.closeSocket(1000, "bye");
  pair.settle();
  pair.open();
  pair.nowMs = 250;
  for (; pair.nowMs <= 1_250; pair.nowMs += 250) pair.requester.tick(pair.nowMs);
  pair.settle();
  return { requester, responder };
}

Deno.test("lanes say every type of frame byte for byte as version 1", () => {
  deepEqual(conversation(), {
    requester: [
      "hello 128 0 a46677696e646f771a0001000068666561747572657380686672616d654d61781940006c65786368616e6765734d61781903e8",
      "request 129 1 000000002ea661688266616363657074632a2f2a616d64504f5354616e206170652f76312f786173636c6c6d61771a000100007b",
      "ping 136 0 ",
      "pong 137 0 ",
      "data 131 1 7d",
      "end 132 1 ",
      "credit 135 1 00018000",
      "request 129 2 0200000023a6616880616d64504f5354616e026170652f76312f786173636c6c6d61771a000100007b7d",
      "request 129 3 0200000023a6616880616d64504f5354616e006170652f76312f786173636c6c6d61771a00010000",
      "request 129 4 0000000023a6616880616d64504f5354616e206170652f76312f786173636c6c6d61771a0001000078",
      "cancel 133 4 ",
      "request 129 5 0000000025a7616880616d63474554616e206170652f76312f786173636c6c6d61750161771a00010000",
      "binary 139 5 010102",
      "socketClose 140 5 03e8627965",
      "request 129 6 0200000023a6616880616d64504f5354616e006170652f76312f786173636c6c6d61771a00010000",
      "ping 136 0 ",
    ],
    responder: [
      "hello 128 0 a46677696e646f771a0001000068666561747572657380686672616d654d61781940006c65786368616e6765734d61781903e8",
      "ping 136 0 ",
      "pong 137 0 ",
      "response 130 1 000000000fa261688263782d6162c3a9617318c8",
      "data 131 1 646174613a20310a0a",
      "end 132 1 a2616c0361748267782d75736167656137",
      "response 130 2 020000000ba3616880616c00617318c86f6b",
      "error 134 3 a3616672656e67696e655f756e726561636861626c65616d696e6f20656e67696e6561706772656675736564",
      "cancel 133 4 ",
      "response 130 5 0000000008a261688061731865",
      "text 138 5 016869",
      "pong 137 0 ",
    ],
  });
});
