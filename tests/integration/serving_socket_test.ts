// Do WebSocket messages cross a mesh of real processes?
import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { startProcessMesh } from "../support/process_mesh.ts";
import { exchangeRaw } from "../support/raw_http.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;
const headers = { "x-otela-identity-group": "model=test-model" };

Deno.test("C026: a realtime client speaks with an engine through the mesh, in messages", async (t) => {
  await using mesh = await startProcessMesh([{}]);
  const base = `${mesh.head.http.replace("http", "ws")}/v1/service/llm`;

  await t.step("text and bytes come back, whatever protocols were offered", async () => {
    const socket = new WebSocket(`${base}/ws`, ["realtime", "other"], { headers });
    await within(deadlineMs, once(socket, "open"));
    socket.send("hello");
    const [text, isBinary] = await within(deadlineMs, once(socket, "message"));
    deepEqual([text.toString(), isBinary], ["hello", false]);
    const bytes = new Uint8Array(300_000).fill(7);
    socket.send(bytes);
    const [back] = await within(deadlineMs, once(socket, "message"));
    deepEqual(new Uint8Array(back), bytes);
    socket.close(1000);
    const [code] = await within(deadlineMs, once(socket, "close"));
    equal(code, 1000);
  });

  await t.step("an engine's refusal is the answer to the handshake", async () => {
    const socket = new WebSocket(`${base}/ws-refuse`, { headers });
    const [, response] = await within(deadlineMs, once(socket, "unexpected-response"));
    equal(response.statusCode, 403);
    response.resume();
    socket.on("error", () => {}); // It says that it was ended.
    socket.terminate();
  });

  await t.step("any other protocol is refused at once", async () => {
    const answer = await exchangeRaw(
      mesh.head.http,
      "GET /v1/service/llm/x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
    );
    equal(answer.status, 501);
  });
});
