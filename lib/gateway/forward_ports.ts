// What does the forward path work with?
import type { Clock, Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { Exchanger } from "../exchange/types.ts";
import type { RequestMeter } from "../metrics/request_meter.ts";
import type { AnswerPlaces } from "../routing/answer_places.ts";
import type { RetryLimits } from "../routing/attempts.ts";
import type { LoadBook } from "../routing/load_book.ts";
import type { Outliers } from "../routing/outliers.ts";
import type { LbPolicy, PromptBlocks, Selector, WeightOf } from "../routing/policies/types.ts";
import type { RetryBudget } from "../routing/retry_budget.ts";
import type { Candidate } from "../routing/types.ts";
import type { RoutingView } from "../routing/view.ts";
import type { AccessLog } from "./access_log.ts";
import type { ClientSweep } from "./client_sweep.ts";
import type { AdmissionKey, ForwardAdmission } from "./forward_admission.ts";
import type { ForwardBody } from "./forward_body.ts";
import type { ForwardDeadlines } from "./forward_deadlines.ts";

/** What the forward path works with. */
export type ForwarderPorts = {
  readonly self: PeerId;
  readonly clock: Clock;
  /** Milliseconds since the Unix epoch: a worker may name a date to come back. */
  readonly wallClock: () => Ms;
  readonly log: Log;
  readonly view: () => RoutingView;
  readonly selector: Selector;
  /** The selector's, for people; `prefix` alone wants to know what a request begins with. */
  readonly selectorName: LbPolicy;
  readonly weightOf: WeightOf;
  readonly book: LoadBook;
  readonly outliers: Outliers;
  readonly budget: RetryBudget;
  readonly admission: ForwardAdmission;
  readonly deadlines: ForwardDeadlines;
  readonly answerPlaces: AnswerPlaces;
  readonly exchanger: Exchanger;
  readonly meter: RequestMeter;
  readonly accessLog: AccessLog;
  readonly sweep: ClientSweep;
  readonly limits: {
    readonly scanBytesMax: Bytes;
    readonly bytesMax: Bytes;
    readonly replayBytesMax: Bytes;
    /** Answers that are no streams are held up to here before their first byte goes out. */
    readonly holdBytesMax: Bytes;
    readonly retry: RetryLimits;
    /** Services whose streams never go on elsewhere. */
    readonly noContinuation: ReadonlySet<string>;
    /** Services whose answers are never held. */
    readonly noHold: ReadonlySet<string>;
    /** How often a broken stream goes on elsewhere; 0: never. */
    readonly continuationsMax: number;
    readonly headTimeoutMs: Ms;
    readonly firstTokenTimeoutMs: Ms;
    readonly idleTimeoutMs: Ms;
    readonly totalTimeoutMs: Ms;
    /** Between two pieces of a request's body. */
    readonly bodyTimeoutMs: Ms;
    /** Silence in a stream of events that a comment breaks; 0: none does. */
    readonly keepAliveMs: Ms;
  };
};

/** What one request has come to be known by, before anybody is asked. */
export type ForwardPlan = {
  readonly tiers: readonly (readonly Candidate[])[];
  readonly isOrdered: boolean;
  readonly body: ForwardBody;
  readonly isStream: boolean;
  /** Whether the client lets a broken stream go on elsewhere. */
  readonly mayContinue: boolean;
  readonly isDebug: boolean;
  /** Whom fairness counts it to; empty when it showed no credential. */
  readonly client: string;
  readonly priority: number;
  /** In which line it waits if everybody is full. */
  readonly admissionKey: () => AdmissionKey;
  /** A worker that answers 404 has only not the answer that this request builds on. */
  readonly isHandedOnWhenMissing: boolean;
  readonly blocks: PromptBlocks | undefined;
  /** Sees the answer of a peer pass by. */
  readonly answerSeen: ((peer: PeerId) => (chunk: Uint8Array) => void) | undefined;
};
