// Who asks the engine of one service, and when?
import { messageOf } from "../base/errors.ts";
import type { Clock, Log } from "../base/ports.ts";
import type { ServiceConfig } from "../config/node_config.ts";
import type { ServiceClaim } from "../registry/claim.ts";
import { EngineClient } from "./engine_client.ts";
import type { EngineSigns } from "./engine_detect.ts";
import { checkHealth, listModels, probeEngine } from "./engine_probe.ts";
import {
  newService,
  type ServiceEffect,
  type ServiceEvent,
  type ServiceState,
  stepService,
} from "./service_machine.ts";

/** What a runner needs of its surroundings. */
export type RunnerPorts = {
  readonly clock: Clock;
  readonly log: Log;
  /** The advertisement changed. */
  readonly changed: () => void;
};

/** Drives the machine of one service: real checks in, timers and advertisement out. */
export class ServiceRunner {
  readonly #client: EngineClient;
  #state: ServiceState;
  #signs: EngineSigns = { ownedBy: "", server: "" };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(readonly config: ServiceConfig, private readonly ports: RunnerPorts) {
    this.#client = new EngineClient(config);
    this.#state = newService(config, ports.clock.nowMs());
  }

  /** Begins to check. Call once. */
  start(): void {
    this.#step({ type: "ticked" });
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** What is advertised now; `null` for nothing. */
  get claim(): ServiceClaim | null {
    return this.#state.advertised;
  }

  /** Withdraws it and stops asking. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#step({ type: "removed" });
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client.close();
  }

  #step(event: ServiceEvent): void {
    if (this.#isClosed) return;
    const before = this.#state;
    const context = { nowMs: this.ports.clock.nowMs(), rules: this.config };
    const { state, effects } = stepService(before, event, context);
    this.#state = state;
    if (event.type === "checkFailed" || event.type === "modelsFailed") {
      this.ports.log.debug("service.check_failed", {
        service: this.config.name,
        reason: event.reason,
      });
    }
    this.#logChange(before, state);
    for (const effect of effects) this.#act(effect);
  }

  #act(effect: ServiceEffect): void {
    switch (effect.type) {
      case "check":
        return void this.#check();
      case "listModels":
        return void this.#list();
      case "detectEngine":
        return void this.#detect();
      case "schedule":
        clearTimeout(this.#timer);
        this.#timer = setTimeout(
          () => this.#step({ type: "ticked" }),
          Math.max(0, Math.ceil(effect.atMs - this.ports.clock.nowMs())),
        );
        return;
      case "advertise":
      case "withdraw":
        return this.ports.changed();
    }
  }

  async #check(): Promise<void> {
    try {
      await checkHealth(this.#client, this.config.healthPath);
    } catch (error) {
      return this.#step({ type: "checkFailed", reason: messageOf(error) });
    }
    this.#step({ type: "checkPassed" });
  }

  async #list(): Promise<void> {
    let list: Awaited<ReturnType<typeof listModels>>;
    try {
      list = await listModels(this.#client);
    } catch (error) {
      return this.#step({ type: "modelsFailed", reason: messageOf(error) });
    }
    this.#signs = list.signs;
    this.#step({ type: "modelsListed", models: list.models });
  }

  async #detect(): Promise<void> {
    const { engine, isComplete } = await probeEngine(this.#client, this.#signs);
    this.#step({ type: "engineDetected", engine, isComplete });
  }

  #logChange(before: ServiceState, after: ServiceState): void {
    if (before.phase === after.phase) return;
    const fields = { service: this.config.name, reason: after.reason };
    if (after.phase === "withdrawn") this.ports.log.warn("service.withdrawn", fields);
    else this.ports.log.info(`service.${after.phase}`, fields);
  }
}
