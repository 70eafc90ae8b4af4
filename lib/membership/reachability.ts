// Can one peer be reached? Judged by our own connections and dials alone.
import type { Random } from "../base/ports.ts";
import type { Step } from "../base/step.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { PeerStatus } from "./status.ts";

/** Wait before the second dial, ± a third (protocol §3: 3 s ± 1). */
export const redialFirstMs: Ms = 3 * secondMs;
/** No wait is longer (protocol §3). */
export const redialMaxMs: Ms = 60 * secondMs;

/** What we know of one peer. */
export type Reachability = PeerStatus & {
  /** Dials that failed since it was last connected. */
  readonly failedDialCount: number;
  /** When to dial again; `null` when nothing is due. */
  readonly redialAtMs: Ms | null;
};

/** What happened to one peer. */
export type ReachabilityEvent =
  /** A connection to it was opened, by either side. */
  | { readonly type: "connected" }
  /** A connection was closed; `remainingCount` others are still open. */
  | { readonly type: "disconnected"; readonly remainingCount: number }
  /** Its host answered that nobody listens. */
  | { readonly type: "dialRefused" }
  /** A dial failed in any other way: no answer, no route, no address, wrong key. */
  | { readonly type: "dialFailed" }
  /**
   * A claim of it was accepted. `isNewRun`: of a later process start than the one we knew. `isWanted`: we want
   * to be connected to it before it is needed, as a head wants workers.
   */
  | { readonly type: "claimSeen"; readonly isNewRun: boolean; readonly isWanted: boolean }
  /** It said itself that it leaves. */
  | { readonly type: "goodbye" }
  /** Time has passed. */
  | { readonly type: "ticked" };

/** What is asked of the driver; each dial must end in `connected`, `dialRefused` or `dialFailed`. */
export type ReachabilityEffect =
  /** Dial it now. The driver may queue dials; it never drops one. */
  | { readonly type: "redial" }
  /** Send `ticked` at that time, or soon after. */
  | { readonly type: "redialAt"; readonly atMs: Ms };

/** Time and chance, as values. */
export type ReachabilityContext = { readonly nowMs: Ms; readonly random: Random };

/**
 * A peer of which we have only heard. It is `suspect`: a record alone never makes a peer fully routable
 * (weaknesses, part B 35), but when nobody else serves it is asked, which dials it.
 */
export function unknownReachability(nowMs: Ms): Reachability {
  return {
    status: "suspect",
    reason: "claimed",
    sinceMs: nowMs,
    failedDialCount: 0,
    redialAtMs: null,
  };
}

/**
 * The next state. Never connected: suspect. Connected: alive. Last connection closed: suspect and one redial at
 * once; refused: left; otherwise suspect and redialled with growing waits for as long as the driver keeps the
 * peer, that is until its lease ends. A goodbye is final for that run: only a connection or a later run ends it.
 */
export function stepReachability(
  state: Reachability,
  event: ReachabilityEvent,
  context: ReachabilityContext,
): Step<Reachability, ReachabilityEffect> {
  switch (event.type) {
    case "connected":
      return stay({
        ...become(state, "alive", "connected", context),
        failedDialCount: 0,
        redialAtMs: null,
      });
    case "disconnected":
      // Closing one of two connections means nothing, and who has left is expected to close.
      if (event.remainingCount > 0 || state.status !== "alive") return stay(state);
      return redial(become(state, "suspect", "disconnected", context), context);
    case "dialRefused":
      if (state.status === "alive" || state.reason === "goodbye") return stay(state);
      return failDial(become(state, "left", "refused", context), context);
    case "dialFailed":
      if (state.status === "alive" || state.reason === "goodbye") return stay(state);
      // Silence after a refusal is no news: it stays left.
      if (state.status === "left") return failDial(state, context);
      return failDial(become(state, "suspect", "unreachable", context), context);
    case "claimSeen":
      return seeClaim(state, event, context);
    case "goodbye":
      return stay({ ...become(state, "left", "goodbye", context), redialAtMs: null });
    case "ticked":
      if (state.redialAtMs === null || context.nowMs < state.redialAtMs) return stay(state);
      return redial(state, context);
  }
}

function seeClaim(
  state: Reachability,
  event: { readonly isNewRun: boolean; readonly isWanted: boolean },
  context: ReachabilityContext,
): Step<Reachability, ReachabilityEffect> {
  if (state.status === "alive") return stay(state);
  if (event.isNewRun && state.status === "left") {
    const heard = { ...become(state, "suspect", "claimed", context), failedDialCount: 0 };
    return redial(heard, context);
  }
  const isUntried = state.reason === "claimed" && state.redialAtMs === null;
  return event.isWanted && isUntried ? redial(state, context) : stay(state);
}

function become(
  state: Reachability,
  status: PeerStatus["status"],
  reason: PeerStatus["reason"],
  { nowMs }: ReachabilityContext,
): Reachability {
  if (state.status === status && state.reason === reason) return state;
  return { ...state, status, reason, sinceMs: nowMs };
}

function stay(state: Reachability): Step<Reachability, ReachabilityEffect> {
  return { state, effects: [] };
}

/** Dials now; should the driver lose the dial, the longest wait brings the next one. */
function redial(
  state: Reachability,
  { nowMs }: ReachabilityContext,
): Step<Reachability, ReachabilityEffect> {
  const redialAtMs = nowMs + redialMaxMs;
  return {
    state: { ...state, redialAtMs },
    effects: [{ type: "redial" }, { type: "redialAt", atMs: redialAtMs }],
  };
}

function failDial(
  state: Reachability,
  { nowMs, random }: ReachabilityContext,
): Step<Reachability, ReachabilityEffect> {
  const failedDialCount = state.failedDialCount + 1;
  const waitMs = Math.min(redialFirstMs * 2 ** Math.min(failedDialCount - 1, 10), redialMaxMs);
  const jitteredMs = Math.min(waitMs * (2 / 3 + random() * 2 / 3), redialMaxMs);
  const redialAtMs = nowMs + jitteredMs;
  return {
    state: { ...state, failedDialCount, redialAtMs },
    effects: [{ type: "redialAt", atMs: redialAtMs }],
  };
}
