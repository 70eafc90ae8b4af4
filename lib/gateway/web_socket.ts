// How do the messages of a WebSocket cross between a client and an engine?
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB } from "../base/units.ts";
import { AnswerBody } from "../exchange/answer_body.ts";
import type { ExchangeResponse, SocketOpening, SocketSession } from "../exchange/types.ts";
import { type ClientSocket, SocketAnswer } from "../server/socket_answer.ts";
import type { ServerAnswer, ServerRequest } from "../server/types.ts";
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
  readonly refused: (response: ExchangeResponse) => ServerAnswer;
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
export async function bridgeSocket(
  request: Pick<ServerRequest, "signal">,
  ports: SocketPorts,
): Promise<ServerAnswer> {
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
  const joint = new SocketJoint(session, ports.closed ?? (() => {}));
  return new SocketAnswer(session.protocol, (socket) => joint.opened(socket), () => joint.lost());
}

function refusal(response: ExchangeResponse, ports: SocketPorts): ServerAnswer {
  if (response.status >= 300) return ports.refused(response);
  // Its body must end somewhere, or the exchange would stay open.
  if (response.body instanceof AnswerBody) response.body.cancel();
  throw new OtelaError(
    "upgrade_unsupported",
    `Cannot open the WebSocket as the engine must change the protocol: it answered ${response.status}`,
  );
}

/** Both ways, until either end closes. */
class SocketJoint {
  private socket: ClientSocket | undefined;
  /** The client's side opens a moment after the answer; until then the engine's part waits here. */
  private waiting: ((socket: ClientSocket) => void)[] = [];
  private waitingBytes: Bytes = 0;
  private isOver = false;

  constructor(
    private readonly session: SocketSession,
    private readonly closed: (code: number) => void,
  ) {
    session.bind({
      message: (message) => this.fromEngine(message),
      closed: (code, reason) =>
        this.over(code, () => this.whenOpen((socket) => closeQuietly(socket, code, reason))),
    });
  }

  opened(socket: ClientSocket): void {
    this.socket = socket;
    socket.bind({
      message: (message) => this.fromClient(message),
      closed: (code, reason) => this.over(code, () => this.session.close(code, reason)),
    });
    for (const act of this.waiting.splice(0)) act(socket);
  }

  /** The client left before its side was open. */
  lost(): void {
    this.over(1001, () => this.session.close(1001, "client left"));
  }

  private fromClient(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.isOver) return;
    const queuedBytes = this.session.send(message);
    if (queuedBytes > clientQueueBytesMax) this.refuseMore("the engine is slower than the client");
  }

  private fromEngine(message: string | Uint8Array): void {
    if (this.isOver) return;
    this.whenOpen((socket) => socket.send(message));
    if (!this.socket) this.waitingBytes += message.length;
    const queuedBytes = this.socket?.bufferedBytes ?? this.waitingBytes;
    if (queuedBytes > engineQueueBytesMax) this.refuseMore("the client is slower than the engine");
  }

  private refuseMore(reason: string): void {
    this.over(overloadedCode, () => {
      this.whenOpen((socket) => closeQuietly(socket, overloadedCode, reason));
      this.session.close(overloadedCode, reason);
    });
  }

  private over(code: number, end: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    end();
    this.closed(code);
  }

  private whenOpen(act: (socket: ClientSocket) => void): void {
    if (this.socket) act(this.socket);
    else this.waiting.push(act);
  }
}

/** Codes from 1004 to 1006 and 1015 describe a lost connection and never travel. */
function closeQuietly(socket: ClientSocket, code: number, reason: string): void {
  const isSendable = code >= 1000 && code < 5000 && !(code >= 1004 && code <= 1006) &&
    code !== 1015;
  // 123 bytes is what a close frame holds; UTF-8 has at most 3 bytes for each of these characters.
  if (isSendable) socket.close(code, reason.slice(0, 41));
  else socket.close(code === 1005 ? 1000 : 1011, "");
}
