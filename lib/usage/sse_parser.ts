// Which events does a stream of server-sent events hold, however it was cut?
import { type Bytes, MiB } from "../base/units.ts";

/** One event, as the HTML standard's §9.2.6 dispatches it. */
export type SseEvent = {
  /** `message` when the stream names none. */
  readonly type: string;
  readonly data: string;
  /** Last event id; empty when none was sent. */
  readonly id: string;
};

/** A longer event is given up: engines send a few hundred bytes, images in answers a few hundred KiB. */
const eventCharactersMax: Bytes = 4 * MiB;

/**
 * Reads events from bytes cut anywhere: line ends LF, CR, CRLF and mixtures, one byte order mark at the start,
 * characters over several chunks, comments, and no event for a block without data.
 */
export class SseParser {
  private readonly decoder = new TextDecoder();
  /** A line whose end has not arrived. */
  private rest = "";
  private endsWithCr = false;
  private data: string[] = [];
  private dataCharacters = 0;
  private type = "";
  private id = "";

  /** @returns The events that this chunk completes. */
  push(chunk: Uint8Array): SseEvent[] {
    let text = this.decoder.decode(chunk, { stream: true });
    if (text === "") return [];
    // An LF at the start belongs to the CR before it: the line has ended already.
    if (this.endsWithCr && text.startsWith("\n")) text = text.slice(1);
    this.endsWithCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    // Only the new text is searched: a long line in tiny pieces would else be searched again for each.
    lines[0] = this.rest + lines[0];
    this.rest = lines.pop() ?? "";
    if (this.rest.length > eventCharactersMax) {
      // A comment in its place: what follows of this line is not a line of its own.
      this.rest = ":";
      this.dataCharacters = Infinity;
    }
    const events: SseEvent[] = [];
    for (const line of lines) {
      const event = this.readLine(line);
      if (event) events.push(event);
    }
    return events;
  }

  private readLine(line: string): SseEvent | undefined {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.addData(value);
    else if (field === "event") this.type = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    return undefined;
  }

  private addData(value: string): void {
    // Each line counts its end too, so that empty ones are bounded as well.
    this.dataCharacters += value.length + 1;
    if (this.dataCharacters <= eventCharactersMax) this.data.push(value);
    else this.data = [];
  }

  private dispatch(): SseEvent | undefined {
    const event = { type: this.type || "message", data: this.data.join("\n"), id: this.id };
    const hasData = this.data.length > 0 && this.dataCharacters <= eventCharactersMax;
    this.type = "";
    this.data = [];
    this.dataCharacters = 0;
    return hasData ? event : undefined;
  }
}
