// How does one connection carry a client's requests, and their answers?
import { concatBytes } from "../base/concat_bytes.ts";
import type { OtelaError } from "../base/errors.ts";
import { type Bytes, KiB } from "../base/units.ts";
import { type RequestHead, RequestReader, type RequestSink } from "../http/request_reader.ts";
import { joinHead } from "../http/wire_bytes.ts";
import { type AnswerOwner, AnswerWriter, type DateSource, giveUp } from "./answer_writer.ts";
import { HttpRequest, type RequestFlow } from "./http_request.ts";
import { Incoming, type IncomingOwner } from "./incoming.ts";
import { Outgoing, type OutgoingOwner } from "./outgoing.ts";
import { type ConnectionState, Quiet } from "./quiet.ts";
import { RawConnection } from "./raw_connection.ts";
import { SocketAnswer } from "./socket_answer.ts";
import type { ByteConnection, ConnectionFacts, ServerAnswer, ServerHandlers } from "./types.ts";

/** Of requests that come before the answers of earlier ones. A guess. */
const aheadBytesMax: Bytes = 64 * KiB;
/** Answers that a client does not read, before its next request is looked at. A guess. */
const unsentBytesMax: Bytes = 64 * KiB;

const continueHead = "HTTP/1.1 100 Continue\r\n\r\n";
const nothing = new Uint8Array(0);

/** What a connection asks of its server. */
export type ConnectionOwner = DateSource & {
  readonly handlers: ServerHandlers;
  /** Whether nothing new is taken. */
  readonly isStopping: boolean;
  /** It is over, or HTTP no more. */
  left(connection: HttpConnection): void;
};

/**
 * Reads one request after the other and answers each before the next. Everything that a client can do in the wrong
 * order or not at all is decided here: it leaves, sends ahead, stops reading, sends no end.
 */
export class HttpConnection
  implements ConnectionFacts, RequestSink, RequestFlow, AnswerOwner, IncomingOwner, OutgoingOwner {
  private readonly reader = new RequestReader(this);
  private readonly incoming: Incoming;
  private readonly outgoing: Outgoing;
  private readonly writer: AnswerWriter;
  private request: HttpRequest | undefined;
  isKept = true;
  /** What came is no request; nothing after it can be one. */
  private isUnreadable = false;
  /** Nothing is answered any more, once what is written has left. */
  private isEnding = false;
  /** The last answer broke off. */
  private isCut = false;
  private isLingering = false;
  private isClosed = false;

  /** What came before its turn. */
  private ahead: Uint8Array<ArrayBuffer> | undefined;
  private isReadingAhead = false;
  private raw: RawConnection | undefined;
  private readonly quiet = new Quiet();
  private readCount = 0;

  constructor(
    private readonly connection: ByteConnection,
    private readonly owner: ConnectionOwner,
  ) {
    this.incoming = new Incoming(connection, this);
    this.outgoing = new Outgoing(connection, this);
    this.writer = new AnswerWriter(this.outgoing, this, owner);
  }

  get remoteAddr(): Deno.Addr {
    return this.connection.remoteAddr;
  }

  /** Reads until the client leaves or the connection is closed. Never rejects. */
  async run(): Promise<void> {
    await this.incoming.run();
  }

  /** The server takes nothing new: what runs is answered, then the connection ends. */
  stop(): void {
    this.isKept = false;
    const isDone = !this.request || this.request.isAnswered;
    if (isDone && this.outgoing.isEmpty) this.close();
    else if (isDone) this.endsAfterWrite();
  }

  /** The server looks at it from time to time, so that nobody holds a connection by doing nothing. */
  look(): void {
    if (this.quiet.look(this.state(), this.readCount + this.outgoing.writes)) this.close();
  }

  private state(): ConnectionState {
    if (this.isLingering) return "lingering";
    if (!this.outgoing.isEmpty) return "writing";
    if (this.request) return this.request.isAnswered ? "rest" : "running";
    return this.reader.isWithin ? "head" : "idle";
  }

  // What the client sends.

  bytes(bytes: Uint8Array): void {
    this.readCount++;
    if (this.raw) return this.raw.bytes(bytes);
    if (this.isUnreadable || this.isEnding) return;
    const isExpected = !this.ahead && (this.request ? !this.request.isWhole : this.hasRoom());
    const at = isExpected ? this.readRequest(bytes, 0) : 0;
    const rest = bytes.subarray(at);
    if (rest.length > 0) this.ahead = concatBytes(this.ahead ? [this.ahead, rest] : [rest]);
    if (this.ahead && !this.request) this.readAhead();
  }

  /** @returns Where the request ended. */
  private readRequest(bytes: Uint8Array, from: number): number {
    let at = bytes.length;
    try {
      at = this.reader.push(bytes, from);
    } catch (error) {
      this.refuse(error as OtelaError);
    }
    this.start();
    if (this.request?.isAnswered && this.request.isWhole) this.over();
    return at;
  }

  /** What the head began, once as much of its body as came with it is there. */
  private start(): void {
    const { request } = this;
    if (!request || request.hasStarted) return;
    request.hasStarted = true;
    const answer = this.owner.handlers.answer(request, this);
    if (answer instanceof Promise) void answer.then((whole) => this.answer(request, whole));
    else this.answer(request, answer);
  }

  /** The bytes are no request, or its body is none. */
  private refuse(error: OtelaError): void {
    this.isUnreadable = true;
    this.isKept = false;
    if (this.request) return this.request.fail(error);
    this.writer.send(this.owner.handlers.refuse(error), { method: "GET", isOld: true });
  }

  /** Requests that came before the answers of earlier ones. A loop, since each may be answered at once. */
  private readAhead(): void {
    if (this.isReadingAhead) return;
    this.isReadingAhead = true;
    while (this.ahead && !this.request && !this.isUnreadable && !this.isEnding && this.hasRoom()) {
      const bytes = this.ahead;
      this.ahead = undefined;
      const at = this.readRequest(bytes, 0);
      if (at < bytes.length) this.ahead = bytes.subarray(at);
    }
    this.isReadingAhead = false;
    this.incoming.goOn();
  }

  private hasRoom(): boolean {
    return this.outgoing.bytes < unsentBytesMax;
  }

  get mustWait(): boolean {
    if (this.isClosed || this.isLingering) return false;
    if (this.raw) return this.raw.isPaused;
    if (this.ahead && this.ahead.length > aheadBytesMax) return true;
    return this.request?.isFull ?? false;
  }

  get isIdle(): boolean {
    return !this.request;
  }

  head(head: RequestHead): void {
    this.request = new HttpRequest(head, this);
    this.isKept = head.isKept && !this.owner.isStopping;
  }

  data(chunk: Uint8Array): void {
    this.request!.push(chunk);
    if (this.request!.isTooLong && this.request!.isAnswered) this.endsAfterWrite();
  }

  end(): void {
    this.request!.end();
  }

  askForBody(): void {
    this.outgoing.write(joinHead(continueHead, nothing));
  }

  bodyTaken(): void {
    this.incoming.goOn();
  }

  // The answer.

  private answer(request: HttpRequest, answer: ServerAnswer): void {
    if (this.isClosed) {
      if (answer instanceof SocketAnswer) answer.lost();
      return giveUp(answer);
    }
    if (answer instanceof SocketAnswer) return void this.upgrade(request, answer);
    request.hasBegun = true;
    // Who was never asked for its body may send it or not: nobody knows what comes next.
    if (request.isUnasked) this.isKept = false;
    this.writer.send(answer, request.head);
  }

  answered(): void {
    const { request } = this;
    if (request) {
      request.isAnswered = true;
      if (request.isWhole) return this.over();
      request.discard();
      if (this.isKept && !request.isTooLong) return;
    }
    this.endsAfterWrite();
  }

  /** The client sees it by the missing end. */
  cut(): void {
    this.isCut = true;
    if (this.outgoing.isEmpty) this.close();
  }

  /** Request and answer are complete. */
  private over(): void {
    this.request = undefined;
    if (!this.isKept || this.owner.isStopping) return this.endsAfterWrite();
    this.reader.next();
    if (this.ahead) this.readAhead();
    else this.incoming.goOn();
  }

  sent(): void {
    if (this.isCut) return this.close();
    if (this.isEnding) return this.finish();
    this.writer.sent();
    if (this.ahead && !this.request) this.readAhead();
  }

  // Its end.

  private endsAfterWrite(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    if (this.outgoing.isEmpty) this.finish();
  }

  /**
   * Says that nothing more comes. A client that still sends is listened to for a moment: closing at once would make
   * the system throw away what it has not read yet of our answer.
   */
  private finish(): void {
    if (this.isLingering) return;
    if (!this.isUnreadable && !this.ahead && !this.request) return this.close();
    this.isLingering = true;
    this.connection.closeWrite().catch(() => this.close());
    this.incoming.goOn();
  }

  /** The client has closed its side, or the connection broke. */
  ended(): void {
    if (this.isClosed) return;
    if (this.raw) return this.raw.ended();
    // Its answer is on its way, and it may be that it only said that it asks for no more.
    if (!this.request && !this.outgoing.isEmpty && !this.isLingering) return this.endsAfterWrite();
    this.close();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.outgoing.drop();
    this.raw?.ended();
    if (this.request?.isAnswered === false) this.request.gone();
    this.writer.cancel();
    this.incoming.end();
    try {
      this.connection.close();
    } catch {
      // The other side was faster: what we wanted.
    }
    this.owner.left(this);
  }

  // A connection that is HTTP no more.

  private async upgrade({ head }: HttpRequest, answer: SocketAnswer): Promise<void> {
    const { connection, incoming } = this;
    const ports = { connection, goOn: () => incoming.goOn(), close: () => this.close() };
    const raw = await RawConnection.open(head, answer, ports, () => this.isClosed);
    if (!raw) return;
    this.owner.left(this);
    this.request = undefined;
    this.raw = raw;
    if (this.ahead) raw.bytes(this.ahead);
    this.ahead = undefined;
    incoming.goOn();
  }
}
