// How does membership learn that a stream carries bytes?
import type { ByteStream } from "../base/byte_stream.ts";

/**
 * The same stream, which tells of traffic.
 * @param received Called for each chunk that comes in: any byte of a peer is a sign of its life.
 * @param sent Called for each chunk that goes out.
 */
export function listened(
  stream: ByteStream,
  received: () => void,
  sent: () => void = () => {},
): ByteStream {
  return {
    bind: (handlers) =>
      stream.bind({
        data: (chunk) => {
          received();
          handlers.data(chunk);
        },
        drained: () => handlers.drained(),
        closed: (error) => handlers.closed(error),
      }),
    send: (bytes) => {
      sent();
      return stream.send(bytes);
    },
    get unsentBytes() {
      return stream.unsentBytes;
    },
    get isRelayed() {
      return stream.isRelayed;
    },
    close: () => stream.close(),
    abort: (reason) => stream.abort(reason),
  };
}
