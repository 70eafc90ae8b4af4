// Which of two statements about one peer is the later?

/**
 * One life of a peer, and how often it has spoken up in it. The epoch is that of its claim (protocol §2), so a
 * restarted process outbids everything that was said of the former one; the counter rises with each refutation.
 */
export type Incarnation = { readonly epoch: number; readonly counter: number };

/** A goodbye stands at this counter: nothing in the same epoch outbids it. */
export const counterLast = 2 ** 32 - 1;

/** @returns Negative when `a` is the earlier, zero when both are the same. */
export function compareIncarnations(a: Incarnation, b: Incarnation): number {
  return a.epoch - b.epoch || a.counter - b.counter;
}

/** The least incarnation of a living peer that outbids another: a new epoch when the old one has ended. */
export function outbid({ epoch, counter }: Incarnation): Incarnation {
  return counter + 1 < counterLast
    ? { epoch, counter: counter + 1 }
    : { epoch: epoch + 1, counter: 0 };
}
