// Do both adapters of EngineSocket keep its contract?
import { DenoSocket } from "../../lib/engine/deno_socket.ts";
import { canReadPastStreams } from "../../lib/engine/connect_engine.ts";
import { NodeSocket } from "../../lib/engine/node_socket.ts";
import { testEngineSocket } from "../contract/engine_socket.ts";

testEngineSocket(
  "DenoSocket",
  async (port) => new DenoSocket(await Deno.connect({ hostname: "127.0.0.1", port })),
);
if (canReadPastStreams) {
  testEngineSocket("NodeSocket", (port) => NodeSocket.connect("127.0.0.1", port));
}
