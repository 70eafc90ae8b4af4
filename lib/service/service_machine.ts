// What should be advertised of a service now, and what is to be asked next?
import type { Ms } from "../base/units.ts";
import type { Step } from "../base/step.ts";
import type { ServiceClaim } from "../registry/claim.ts";
import { type EngineFacts, unknownEngine } from "./engine_detect.ts";
import { isSameClaim, serviceClaimOf } from "./service_claim.ts";
import { servesModels, type ServiceRules } from "./service_rules.ts";

/**
 * `unknown`: nothing was asked yet; `starting`: has never answered, which is normal for 40 minutes; `ready`;
 * `failing`: still advertised, the last checks failed; `withdrawn`: was ready, failed too often.
 */
export type ServicePhase = "unknown" | "starting" | "ready" | "failing" | "withdrawn";

/** All that is remembered of one service. */
export type ServiceState = {
  readonly phase: ServicePhase;
  /** Failed checks in a row. */
  readonly checkFailures: number;
  /** Failed model lists in a row. */
  readonly listFailures: number;
  /** Why the last check or list failed; `null` when both are well. */
  readonly reason: string | null;
  /** `null` until the first list. */
  readonly models: readonly string[] | null;
  /** `null` until detected. */
  readonly engine: EngineFacts | null;
  readonly isEngineSure: boolean;
  /** When the last check began. */
  readonly checkedAtMs: Ms;
  /** Infinite while a check runs. */
  readonly checkDueMs: Ms;
  /** Infinite while a list runs, and when none is wanted. */
  readonly listDueMs: Ms;
  readonly isListing: boolean;
  /** What the world was told; `null` for nothing. */
  readonly advertised: ServiceClaim | null;
};

/** What happened. */
export type ServiceEvent =
  | { readonly type: "ticked" }
  | { readonly type: "checkPassed" }
  | { readonly type: "checkFailed"; readonly reason: string }
  | { readonly type: "modelsListed"; readonly models: readonly string[] }
  | { readonly type: "modelsFailed"; readonly reason: string }
  /** When it is not complete, the engine stopped answering in between and is asked again. */
  | { readonly type: "engineDetected"; readonly engine: EngineFacts; readonly isComplete: boolean }
  | { readonly type: "removed" };

/** What is asked for. `schedule` replaces the one before. */
export type ServiceEffect =
  | { readonly type: "check" }
  | { readonly type: "listModels" }
  | { readonly type: "detectEngine" }
  | { readonly type: "advertise"; readonly claim: ServiceClaim }
  | { readonly type: "withdraw" }
  | { readonly type: "schedule"; readonly atMs: Ms };

/** The pause after the first failed check of a service that has never answered; it doubles. Guess. */
const startPauseMs = 250;

/** A service of which nothing is known; its first check is due at once. */
export function newService(rules: ServiceRules, nowMs: Ms): ServiceState {
  return {
    phase: "unknown",
    checkFailures: 0,
    listFailures: 0,
    reason: null,
    models: servesModels(rules) ? null : [],
    engine: servesModels(rules) ? null : unknownEngine,
    isEngineSure: false,
    checkedAtMs: nowMs,
    checkDueMs: nowMs,
    listDueMs: Infinity,
    isListing: false,
    advertised: null,
  };
}

type Context = { readonly nowMs: Ms; readonly rules: ServiceRules };

/** One step: what the event changes, then what follows for checks and for the advertisement. */
export function stepService(
  state: ServiceState,
  event: ServiceEvent,
  context: Context,
): Step<ServiceState, ServiceEffect> {
  if (event.type === "removed") {
    const effects: ServiceEffect[] = state.advertised ? [{ type: "withdraw" }] : [];
    return { state: { ...state, phase: "withdrawn", advertised: null }, effects };
  }
  const changed = absorb(state, event, context);
  return settle(changed, needsDetection(state, changed, event), context);
}

function absorb(state: ServiceState, event: ServiceEvent, context: Context): ServiceState {
  switch (event.type) {
    case "checkPassed":
      return passed(state, context);
    case "checkFailed":
      return failed(state, event.reason, context);
    case "modelsListed":
      return listed(state, event.models, context);
    case "modelsFailed":
      return unlisted(state, event.reason, context);
    case "engineDetected":
      return { ...state, engine: event.engine, isEngineSure: event.isComplete };
    default:
      return state;
  }
}

function passed(state: ServiceState, { nowMs, rules }: Context): ServiceState {
  const next: ServiceState = {
    ...state,
    checkFailures: 0,
    reason: state.listFailures > 0 ? state.reason : null,
    checkDueMs: Math.max(nowMs, state.checkedAtMs + rules.healthIntervalMs),
  };
  if (!servesModels(rules)) return { ...next, phase: "ready" };
  if (state.phase === "ready") return next;
  // It may have been restarted with other models, so their list is not left until it is due.
  const listDueMs = state.isListing ? Infinity : nowMs;
  return { ...next, phase: state.phase === "failing" ? "ready" : state.phase, listDueMs };
}

function failed(state: ServiceState, reason: string, { nowMs, rules }: Context): ServiceState {
  const checkFailures = state.checkFailures + 1;
  const phase = phaseAfterFailure(state.phase, checkFailures, rules);
  const pauseMs = phase === "starting"
    ? startPauseMs * 2 ** Math.min(checkFailures - 1, 16)
    : Infinity;
  const dueMs = Math.min(nowMs + pauseMs, state.checkedAtMs + rules.healthIntervalMs);
  const checkDueMs = Math.max(nowMs, dueMs);
  // While it is advertised its models are still looked at; otherwise the next check that passes asks for them.
  const listDueMs = isAdvertisable(phase) ? state.listDueMs : Infinity;
  return { ...state, phase, checkFailures, reason, checkDueMs, listDueMs };
}

function phaseAfterFailure(
  phase: ServicePhase,
  failures: number,
  { healthFailures }: ServiceRules,
): ServicePhase {
  if (phase === "unknown" || phase === "starting") return "starting";
  return phase === "withdrawn" || failures >= healthFailures ? "withdrawn" : "failing";
}

function listed(
  state: ServiceState,
  models: readonly string[],
  { nowMs, rules }: Context,
): ServiceState {
  // The list may have been asked for before checks began to fail; then only a check brings the service back.
  const phase = state.checkFailures === 0 ? "ready" : state.phase;
  return {
    ...state,
    phase,
    models,
    listFailures: 0,
    reason: state.checkFailures > 0 ? state.reason : null,
    isListing: false,
    listDueMs: isAdvertisable(phase) ? nowMs + rules.modelRefreshMs : Infinity,
  };
}

/** The last list stays true for as many failures as a check may have. */
function unlisted(state: ServiceState, reason: string, { nowMs, rules }: Context): ServiceState {
  const listFailures = state.listFailures + 1;
  const isSpent = isAdvertisable(state.phase) && listFailures >= rules.healthFailures;
  const early = state.phase === "unknown" ? "starting" : state.phase;
  const phase = isSpent ? "withdrawn" : early;
  const isAnswering = state.checkFailures === 0 || isAdvertisable(phase);
  const listDueMs = isAnswering ? nowMs + rules.modelRefreshMs : Infinity;
  return { ...state, phase, listFailures, reason, isListing: false, listDueMs };
}

/** Another engine may answer after a change of models or after a silence. */
function needsDetection(before: ServiceState, after: ServiceState, event: ServiceEvent): boolean {
  if (event.type !== "modelsListed") return false;
  const isChanged = JSON.stringify(before.models) !== JSON.stringify(after.models);
  return isChanged || !after.isEngineSure || !isAdvertisable(before.phase);
}

function isAdvertisable(phase: ServicePhase): boolean {
  return phase === "ready" || phase === "failing";
}

/** Turns what is due into effects, and the difference between what is true and what was said. */
function settle(
  state: ServiceState,
  isDetecting: boolean,
  { nowMs, rules }: Context,
): Step<ServiceState, ServiceEffect> {
  const effects: ServiceEffect[] = [];
  let next = state;
  if (next.checkDueMs <= nowMs) {
    next = { ...next, checkDueMs: Infinity, checkedAtMs: nowMs };
    effects.push({ type: "check" });
  }
  if (next.listDueMs <= nowMs) {
    next = { ...next, listDueMs: Infinity, isListing: true };
    effects.push({ type: "listModels" });
  }
  if (isDetecting) effects.push({ type: "detectEngine" });
  const claim = claimOf(next, rules);
  if (!isSameClaim(claim, next.advertised)) {
    next = { ...next, advertised: claim };
    effects.push(claim ? { type: "advertise", claim } : { type: "withdraw" });
  }
  const atMs = Math.min(next.checkDueMs, next.listDueMs);
  if (atMs < Infinity) effects.push({ type: "schedule", atMs });
  return { state: next, effects };
}

function claimOf(state: ServiceState, rules: ServiceRules): ServiceClaim | null {
  if (!isAdvertisable(state.phase) || !state.models || !state.engine) return null;
  return serviceClaimOf(rules, state.models, state.engine);
}
