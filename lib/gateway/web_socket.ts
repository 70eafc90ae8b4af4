// How do the messages of a WebSocket cross between a client and an engine?
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB } from "../base/units.ts";
import { AnswerBody } from "../exchange/answer_body.ts";
import type { ExchangeResponse, SocketOpening, SocketSession } from "../exchange/types.ts";
import { watchClient } from "./client_gone.ts";

/** Queued from a client toward its engine; beyond it the socket closes, as the protocol decides. */
export const clientQueueBytesMax: Bytes = MiB;

/** Queued from an engine toward its client, who has no credit of its own; beyond it likewise. Guess. */
export const engineQueueBytesMax: Bytes = 16 * MiB;

/** "Try again later": RFC 6455's registry. */
const overloadedCode = 1013;

/** What bridging one socket needs. */
export type SocketPorts = {
  /** Does the handshake with the engine; rejects with an `ExchangeError`. */
  readonly open: (signal: AbortSignal) => Promise<SocketOpening>;
  /** Turns the engine's refusal into the client's answer. */
  readonly refused: (response: ExchangeResponse) => Response;
  /** The socket is over; called once, and only after it was opened. */
  readonly closed?: (code: number) => void;
};

/**
 * Opens the engine's side first, then the client's, so that a refusal is an ordinary answer. What a
 * client sends waits in memory when the engine is slow, because an upgraded socket has no back-pressure
 * here: it is closed with 1013 at `clientQueueBytesMax`.
 * @param request A WebSocket handshake, checked by `isSocketWanted`.
 * @throws {OtelaError} `upgrade_unsupported` when the engine answers 2xx as if nobody had asked for a
 * socket, `canceled` when the client left meanwhile, and whatever `open` rejects with.
 */
export async function bridgeSocket(request: Request, ports: SocketPorts): Promise<Response> {
  const abort = new AbortController();
  const watch = watchClient(request.signal, () => abort.abort());
  let opening: SocketOpening;
  try {
    opening = await ports.open(abort.signal);
  } finally {
    watch.answered();
  }
  if (!opening.opened) return refusal(opening.response, ports);
  const { session } = opening;
  if (watch.isGone) {
    session.close(1001, "client left");
    throw new OtelaError("canceled", "Cannot open the WebSocket as its client must still be here");
  }
  // `idleTimeout` stays at the runtime's two minutes: it pings, and ends sockets of vanished clients.
  if (session.protocol !== "") offerOnly(request, session.protocol);
  const { socket, response } = Deno.upgradeWebSocket(
    request,
    session.protocol === "" ? {} : { protocol: session.protocol },
  );
  joinSocket(socket, session, ports.closed ?? (() => {}));
  return response;
}

/**
 * Deno looks for the chosen protocol in the client's list split at ", ", and throws when a client writes it
 * without the blank, as `ws` does (2.7.11, 2.9.6). The engine chose from the list, so it is narrowed to that.
 */
function offerOnly(request: Request, protocol: string): void {
  const headers = new Headers(request.headers);
  headers.set("sec-websocket-protocol", protocol);
  Object.defineProperty(request, "headers", { value: headers });
}

function refusal(response: ExchangeResponse, ports: SocketPorts): Response {
  if (response.status >= 300) return ports.refused(response);
  // Its body must end somewhere, or the exchange would stay open.
  if (response.body instanceof AnswerBody) response.body.cancel();
  throw new OtelaError(
    "upgrade_unsupported",
    `Cannot open the WebSocket as the engine must change the protocol: it answered ${response.status}`,
  );
}

/** Both ways, until either end closes. */
function joinSocket(
  socket: WebSocket,
  session: SocketSession,
  closed: (code: number) => void,
): void {
  // The client's side opens a moment after the answer; until then the engine's part waits here.
  const waiting: (() => void)[] = [];
  let waitingBytes: Bytes = 0;
  let isOpen = false, isOver = false;
  const once = (end: () => void, code: number): void => {
    if (isOver) return;
    isOver = true;
    end();
    closed(code);
  };
  const whenOpen = (act: () => void): void => void (isOpen ? act() : waiting.push(act));
  const refuseMore = (reason: string): void =>
    once(() => {
      whenOpen(() => closeQuietly(socket, overloadedCode, reason));
      session.close(overloadedCode, reason);
    }, overloadedCode);

  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    isOpen = true;
    for (const act of waiting.splice(0)) act();
  });
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return;
    const queuedBytes = session.send(typeof data === "string" ? data : new Uint8Array(data));
    if (queuedBytes > clientQueueBytesMax) refuseMore("the engine is slower than the client");
  });
  socket.addEventListener(
    "close",
    ({ code, reason }) => once(() => session.close(code, reason), code),
  );
  // `close` follows each error; without a handler the error would end the process.
  socket.addEventListener("error", (event) => event.preventDefault());
  session.bind({
    message(message) {
      if (isOver) return;
      whenOpen(() => socket.send(message));
      if (!isOpen) waitingBytes += message.length;
      const queuedBytes = isOpen ? socket.bufferedAmount : waitingBytes;
      if (queuedBytes > engineQueueBytesMax) refuseMore("the client is slower than the engine");
    },
    closed: (code, reason) => once(() => whenOpen(() => closeQuietly(socket, code, reason)), code),
  });
}

/** Codes from 1004 to 1006 and 1015 describe a lost connection and never travel. */
function closeQuietly(socket: WebSocket, code: number, reason: string): void {
  const isSendable = code >= 1000 && code < 5000 && !(code >= 1004 && code <= 1006) &&
    code !== 1015;
  // 123 bytes is what a close frame holds; UTF-8 has at most 3 bytes for each of these characters.
  if (isSendable) socket.close(code, reason.slice(0, 41));
  else socket.close(code === 1005 ? 1000 : 1011, "");
}
