// What becomes of an envelope that came in?
import type { RegistryEffect } from "./effects.ts";
import type { RefusalReason } from "./refusal.ts";

/** What a gossip validator should do: forward; drop; drop and hold it against the sender. */
export type Verdict = "accept" | "ignore" | "reject";

/** The verdict, and what else to do. */
export type Receipt = { readonly verdict: Verdict; readonly effects: RegistryEffect[] };

/** A receipt that only counts why. */
export function refuse(verdict: Verdict, reason: RefusalReason): Receipt {
  return { verdict, effects: [{ type: "count", reason }] };
}
