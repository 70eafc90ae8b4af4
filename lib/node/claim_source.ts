// What is true of this node, so that it can say so?
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

/** Changes within this time are stated together (protocol §3: publish debounced 100 ms). */
const debounceMs: Ms = 100;
/** As many as a claim holds. */
const addressesMax = 32;

/** States the claim anew soon after something in it changed. */
export class ClaimSource {
  private hardware: HardwareClaim = { cpuCount: 0, memoryMiB: 0, gpus: [] };
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly facts: ClaimFacts) {}

  hardwareFound(hardware: HardwareClaim): void {
    this.hardware = hardware;
    this.changed();
  }

  /** Something may have changed; what is as before is not stated again. */
  changed(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.stateNow();
    }, debounceMs);
  }

  /** States the claim at once. */
  stateNow(): void {
    const { facts } = this;
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
