// How is one peer dialled, at several addresses, by several callers?
import type { Connection } from "@libp2p/interface";
import { CODE_P2P, multiaddr } from "@multiformats/multiaddr";
import { OtelaError } from "../base/errors.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { dialOrder } from "./dial_order.ts";
import { dialRace } from "./dial_race.ts";
import type { Host } from "./host.ts";
import { addressesMax } from "./host_limits.ts";
import { isTcpAddress } from "./tcp_address.ts";

/** RFC 8305 says 250 ms and never below 100; eleven dead addresses before the good one must cost < 3 s (C052). */
export const dialStaggerMs: Ms = 100;

/** Everything to one peer: connect and handshake. 31 staggers and 3 s for the last address. */
export const dialBudgetMs: Ms = 6 * secondMs;

/** Dials at once to several addresses of one node; the first that completes its handshake wins. */
export class Dialer {
  readonly #dial: Host["dial"];
  readonly #subnets: () => readonly string[];

  constructor(dial: Host["dial"], subnets: () => readonly string[]) {
    this.#dial = dial;
    this.#subnets = subnets;
  }

  /**
   * @param peer Who must answer; `undefined`: anybody.
   * @param addresses From claims and files: what is no TCP multiaddr, or names another peer, is left out.
   * @throws {OtelaError} `peer_unreachable`, with field `isRefused`.
   */
  async dial(
    peer: string | undefined,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<Connection> {
    const usable = addresses.flatMap((address) => withPeer(address, peer) ?? []);
    const ordered = dialOrder([...new Set(usable)], this.#subnets()).slice(0, addressesMax);
    try {
      return await dialRace(
        ordered,
        (address, signal) => this.#dial(multiaddr(address), signal),
        {
          staggerMs: dialStaggerMs,
          budgetMs: dialBudgetMs,
          signal,
          discard: (late) => late.abort(new Error("Another address answered first")),
        },
      );
    } catch (error) {
      throw unreachable(peer, ordered, error);
    }
  }
}

/** The address with `/p2p/<peer>` behind it; `undefined` when it is none that we can dial for this peer. */
function withPeer(address: string, peer: string | undefined): string | undefined {
  try {
    const parsed = multiaddr(address);
    if (!isTcpAddress(parsed)) return undefined;
    const named = parsed.getComponents().findLast(({ code }) => code === CODE_P2P)?.value;
    if (named === undefined) return peer === undefined ? address : `${address}/p2p/${peer}`;
    return peer === undefined || named === peer ? address : undefined;
  } catch {
    return undefined;
  }
}

function unreachable(
  peer: string | undefined,
  addresses: readonly string[],
  cause: unknown,
): OtelaError {
  const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const isRefused = errors.length > 0 && errors.length === addresses.length &&
    errors.every((error) => error instanceof Deno.errors.ConnectionRefused);
  return new OtelaError(
    "peer_unreachable",
    `Cannot reach ${
      peer ?? "a node"
    } as one of ${addresses.length} addresses must answer: none did`,
    { cause, fields: { isRefused } },
  );
}
