// How do requests, one after the other, live on a connection to an engine?
import { headerOf } from "../base/header_list.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { Carrier, EngineRequest } from "./engine_request.ts";
import type { EngineSocket, SocketHandlers } from "./engine_socket.ts";
import { ResponseReader, type ResponseSink } from "./http_response.ts";

/** What a connection tells its pool. */
export type ConnectionOwner = {
  /** Its answer has ended, and another request may follow. */
  free(connection: EngineConnection): void;
  /** It is closed. */
  gone(connection: EngineConnection): void;
};

/** An engine that says nothing of it keeps an idle connection for five seconds or more (uvicorn). */
const idleMsUsual: Ms = 4 * secondMs;
/** An engine that says how long loses this much for the way. A guess. */
const idleMsMargin: Ms = 2 * secondMs;
const idleMsMax: Ms = 600 * secondMs;

/** One connection; carries one request at a time and is read all the while, so that its end is never missed. */
export class EngineConnection implements Carrier, ResponseSink, SocketHandlers {
  private readonly reader = new ResponseReader(this);
  private request: EngineRequest | undefined;
  private isClosed = false;
  private isWriting = false;
  /** How long the engine keeps it when nothing is asked. */
  idleMs: Ms = idleMsUsual;

  constructor(private readonly socket: EngineSocket, private readonly owner: ConnectionOwner) {
    socket.bind(this);
  }

  /** Whether the last request left whole: an engine may answer one that it has not read. */
  get isWritten(): boolean {
    return !this.isWriting;
  }

  /** Carries a request that is not over. Only while nothing else is carried. */
  carry(request: EngineRequest): void {
    this.request = request;
    this.reader.expect(request.method);
    request.carriedBy(this);
    void this.writeAll(request);
  }

  write(): void {
    if (this.request && !this.isWriting) void this.writeAll(this.request);
  }

  resume(): void {
    this.socket.resume();
  }

  /** Ends it now; what it carries fails. Idempotent. */
  close(error: Error = new Error("the connection was closed")): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.socket.close();
    const { request } = this;
    this.request = undefined;
    this.owner.gone(this);
    request?.failed(error, "sent");
  }

  // What the socket says.

  bytes(chunk: Uint8Array): void {
    try {
      this.reader.push(chunk);
    } catch (error) {
      this.close(error as Error);
    }
  }

  ended(error: Error | undefined): void {
    try {
      if (!error) this.reader.close();
      this.close(error);
    } catch (broken) {
      this.close(broken as Error);
    }
  }

  // What the reader says.

  head(status: number, headers: string[]): void {
    this.idleMs = idleMsOf(headerOf(headers, "keep-alive"));
    this.request?.answerHead(status, headers);
  }

  data(chunk: Uint8Array): void {
    if (this.request && !this.request.answerData(chunk)) this.socket.pause();
  }

  end(trailers: string[]): void {
    const { request } = this;
    this.request = undefined;
    this.resume();
    // An answer that came before the whole request leaves the rest of it unread on the connection.
    if (this.reader.isReusable && request?.isSent) this.owner.free(this);
    else this.close();
    request?.answerEnd(trailers);
  }

  /** Writes what there is; what comes meanwhile too. */
  private async writeAll(request: EngineRequest): Promise<void> {
    this.isWriting = true;
    try {
      for (let piece = request.next(); piece && !this.isClosed; piece = request.next()) {
        await this.socket.write(piece.bytes);
        request.taken(piece.bodyBytes);
      }
    } catch {
      // An engine that hangs up may have said why: what can be read decides, and its end comes there too.
    }
    this.isWriting = false;
  }
}

/** `Keep-Alive: timeout=5` (RFC 2068 §19.7.1, still sent by many). */
function idleMsOf(keepAlive: string): Ms {
  const seconds = /(?:^|[,; ])timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return idleMsUsual;
  return Math.min(idleMsMax, Math.max(0, Number(seconds) * secondMs - idleMsMargin));
}
