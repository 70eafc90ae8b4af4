import { equal, throws } from "node:assert/strict";
import { readRequestHead } from "../../../lib/gateway/request_head.ts";
import { isSocketWanted } from "../../../lib/gateway/upgrade.ts";

const handshake = {
  "sec-websocket-version": "13",
  "sec-websocket-key": "AAECAwQFBgcICQoLDA0ODw==",
};

function wanted(headers: Record<string, string>, method = "GET"): boolean {
  return isSocketWanted(method, readRequestHead(new Headers(headers)));
}

Deno.test("C026: isSocketWanted compares tokens without case and in lists", () => {
  for (const upgrade of ["websocket", "WebSocket", "WEBSOCKET", "h2c, websocket"]) {
    for (const connection of ["upgrade", "Upgrade", "keep-alive, Upgrade", "UPGRADE ,close"]) {
      equal(wanted({ upgrade, connection, ...handshake }), true);
    }
  }
});

Deno.test("C026: isSocketWanted sees no upgrade, when Connection does not name it", () => {
  equal(wanted({}), false);
  equal(wanted({ connection: "keep-alive" }), false);
  equal(wanted({ upgrade: "websocket", connection: "keep-alive", ...handshake }), false);
  equal(wanted({ upgrade: "otela/1", connection: "upgraded" }), false);
});

Deno.test("C026: isSocketWanted refuses other protocols, and ignores a whole offer of HTTP/2", () => {
  for (const upgrade of ["h2c", "otela/1", "TLS/1.0", "websocketx"]) {
    throws(() => wanted({ upgrade, connection: "upgrade" }, "POST"), {
      code: "upgrade_unsupported",
    });
  }
  const offer = {
    upgrade: "h2c",
    connection: "Upgrade, HTTP2-Settings",
    "http2-settings": "AAMAAABk",
  };
  equal(wanted(offer, "POST"), false);
});

Deno.test("isSocketWanted refuses a broken handshake before any engine is asked", () => {
  const base = { upgrade: "websocket", connection: "upgrade" };
  const broken: [Record<string, string>, string][] = [
    [handshake, "POST"],
    [{ ...handshake, "sec-websocket-version": "8" }, "GET"],
    [{ ...handshake, "sec-websocket-key": "short" }, "GET"],
    [{}, "GET"],
  ];
  for (const [headers, method] of broken) {
    throws(() => wanted({ ...base, ...headers }, method), { code: "bad_request" });
  }
});
