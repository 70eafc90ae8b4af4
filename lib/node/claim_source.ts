// What is true of this node, so that it can say so?
import type { Clock } from "../base/ports.ts";
import type { Role } from "../registry/claim.ts";
import type { Claim, HardwareClaim, ServiceClaim } from "../registry/claim.ts";
import type { Ms } from "../base/units.ts";

/** What the claim is made of. */
export type ClaimFacts = {
  readonly role: Role;
  readonly labels: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly addresses: () => readonly string[];
  readonly services: () => readonly ServiceClaim[];
  readonly state: (claim: Claim) => void;
};

/** What changes at once is stated together. */
const gatherMs: Ms = 10;
/**
 * Between two statements (protocol §3: publish debounced 100 ms). A change that comes alone need not wait so long: it
 * would be a third of the time until everybody knows.
 */
const restMs: Ms = 100;
/** As many as a claim holds. */
const addressesMax = 32;

/** States the claim anew soon after something in it changed. */
export class ClaimSource {
  private hardware: HardwareClaim = { cpuCount: 0, memoryMiB: 0, gpus: [] };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private statedAtMs: Ms = -Infinity;

  constructor(private readonly facts: ClaimFacts, private readonly clock: Clock) {}

  hardwareFound(hardware: HardwareClaim): void {
    this.hardware = hardware;
    this.changed();
  }

  /** Something may have changed; what is as before is not stated again. */
  changed(): void {
    if (this.timer !== undefined) return;
    const waitMs = Math.max(gatherMs, this.statedAtMs + restMs - this.clock.nowMs());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.stateNow();
    }, waitMs);
  }

  /** States the claim at once. */
  stateNow(): void {
    const { facts } = this;
    this.statedAtMs = this.clock.nowMs();
    facts.state({
      role: facts.role,
      addresses: facts.addresses().slice(0, addressesMax),
      relays: [],
      services: facts.services(),
      hardware: this.hardware,
      labels: facts.labels,
      wallet: "",
      versions: facts.versions,
    });
  }

  close(): void {
    clearTimeout(this.timer);
  }
}
