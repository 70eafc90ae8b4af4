// How do tests send a body as fast as a lane takes it?
import type { Bytes } from "../../lib/base/units.ts";
import type { LaneRecord, Served } from "./lane_pair.ts";

/** Sends `total` bytes as fast as the sender allows, as an engine does. */
export function pour(
  total: Bytes,
  chunkBytes: Bytes,
  send: (chunk: Uint8Array) => boolean,
  end: () => void,
  heard: LaneRecord,
): void {
  let left = total;
  const go = () => {
    while (left > 0) {
      const bytes = Math.min(left, chunkBytes);
      left -= bytes;
      if (!send(new Uint8Array(bytes)) && left > 0) return;
    }
    heard.onWritable = () => {};
    end();
  };
  heard.onWritable = go;
  go();
}

/** Answers with a body of so many bytes. */
export function pourAnswer({ exchange, heard }: Served, total: Bytes, chunkBytes: Bytes): void {
  exchange.head(200, []);
  pour(total, chunkBytes, (chunk) => exchange.data(chunk), () => exchange.end([], 0), heard);
}
