// What does the forward path work with?
import type { Clock } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Bytes } from "../base/units.ts";
import type { Exchanger } from "../exchange/types.ts";
import type { RequestMeter } from "../metrics/request_meter.ts";
import type { RetryLimits } from "../routing/attempts.ts";
import type { LoadBook } from "../routing/load_book.ts";
import type { Selector } from "../routing/policies/selector.ts";
import type { Candidate } from "../routing/types.ts";
import type { RoutingView } from "../routing/view.ts";
import type { AccessLog } from "./access_log.ts";
import type { ClientSweep } from "./client_sweep.ts";
import type { ForwardBody } from "./forward_body.ts";

/** What the forward path works with. */
export type ForwarderPorts = {
  readonly self: PeerId;
  readonly clock: Clock;
  readonly view: () => RoutingView;
  /** Whether any peer ever claimed the service, and this group of it, also if it has left meanwhile. */
  readonly wasClaimed: (service: string, group: string | null) => boolean;
  readonly selector: Selector;
  readonly book: LoadBook;
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
  };
};

/** What one request has come to be known by, before anybody is asked. */
export type ForwardPlan = {
  readonly tiers: readonly (readonly Candidate[])[];
  readonly isOrdered: boolean;
  readonly body: ForwardBody;
  readonly isStream: boolean;
};
