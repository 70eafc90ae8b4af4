// When is the registry written down?
import { messageOf } from "../base/errors.ts";
import type { Clock, Log } from "../base/ports.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { Registry } from "../registry/registry.ts";
import type { Snapshot } from "../registry/snapshot.ts";
import { SnapshotFile } from "./snapshot_file.ts";

/** Changes within this time are written together: a shared file system should hardly notice us. A guess. */
const writeDelayMs: Ms = 5 * secondMs;

/** Writes a snapshot some seconds after something changed, and at the end. */
export class SnapshotKeeper {
  private readonly file: SnapshotFile;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly clock: Clock,
    path: string,
    private readonly log: Log,
  ) {
    this.file = new SnapshotFile(path, log);
  }

  read(): Promise<Snapshot> {
    return this.file.read();
  }

  /** `cleanslate`: nothing of an earlier run is used, now or later. */
  async forget(): Promise<void> {
    await this.file.remove().catch((error) => this.failed(error));
  }

  changed(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.write();
    }, writeDelayMs);
  }

  /** Writes what has changed and ends. */
  async close(): Promise<void> {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    await this.write();
  }

  private async write(): Promise<void> {
    const snapshot = this.registry.snapshot(this.clock.nowMs());
    await this.file.write(snapshot).catch((error) => this.failed(error));
  }

  private failed(error: unknown): void {
    this.log.warn("snapshot.unwritten", { path: this.file.path, error: messageOf(error) });
  }
}
