// Do bytes reach those who listen to a stream, without a DOM event?
import { deepEqual, equal, throws } from "node:assert/strict";
import { type MessageStream, StreamMessageEvent } from "@libp2p/interface";
import { TypedEventEmitter } from "@libp2p/interface";
import { dispatchDirectly } from "../../../lib/mesh/direct_messages.ts";

type Target = Pick<
  MessageStream,
  "addEventListener" | "removeEventListener" | "dispatchEvent" | "listenerCount"
>;

function newTarget(): Target {
  const target = new TypedEventEmitter() as unknown as MessageStream;
  dispatchDirectly(target);
  return target;
}

const message = () => new StreamMessageEvent(Uint8Array.of(1));

Deno.test("dispatchDirectly calls listeners in order, once each, until they are removed", () => {
  const target = newTarget();
  const calls: string[] = [];
  const first = ({ data }: StreamMessageEvent) => void calls.push(`first ${data.byteLength}`);
  const second = () => void calls.push("second");
  target.addEventListener("message", first);
  target.addEventListener("message", second);
  target.addEventListener("message", first);
  equal(target.listenerCount("message"), 2);
  target.dispatchEvent(message());
  target.removeEventListener("message", first);
  target.dispatchEvent(message());
  deepEqual(calls, ["first 1", "second", "second"]);
});

Deno.test("dispatchDirectly honours options, and leaves other events to the DOM", () => {
  const target = newTarget();
  let count = 0;
  target.addEventListener("message", () => count++, { once: true });
  target.dispatchEvent(message());
  target.dispatchEvent(message());
  equal(count, 1);
  target.addEventListener("drain", () => count++);
  target.dispatchEvent(new Event("drain"));
  equal(count, 2);
});

Deno.test("dispatchDirectly lets a failure reach who brought the bytes", () => {
  const target = newTarget();
  target.addEventListener("message", () => {
    throw new Error("broken");
  });
  throws(() => target.dispatchEvent(message()), /broken/);
});
