// What does a sync read of the registry?
import type { Registry } from "./registry.ts";

/** The registry as its sync sessions see it: they read, and hand what they receive to the driver. */
export type SyncTable = Pick<
  Registry,
  | "root"
  | "backlogCount"
  | "mayWant"
  | "bucketHashes"
  | "differingBuckets"
  | "headsIn"
  | "envelopeOf"
  | "floorAbove"
>;
