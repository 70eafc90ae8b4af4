// What goes wrong in a simulated world?
import { OtelaError } from "../base/errors.ts";
import { hourMs, minuteMs, type Ms, secondMs } from "../base/units.ts";
import type { SimNode } from "./sim_node.ts";
import type { World } from "./world.ts";

/** Faults of the first act. Shares are from 0 to 1. */
export type Faults = {
  /** Messages lost. */
  readonly loss: number;
  /** Messages that arrive twice. */
  readonly dup: number;
  /** Messages overtaken by later ones. */
  readonly reorder: number;
  /** Nodes frozen at any time, for 5 s each. */
  readonly pause: number;
  /** Nodes that end and come back in five minutes, with and without their state. */
  readonly churn: number;
  /** Nodes that end at once, as a Slurm job does. */
  readonly wave: number;
  /** Nodes that say goodbye and come back in ten minutes. */
  readonly leave: number;
  /** Nodes behind a split for a fifth of the time. */
  readonly partition: number;
  /** Paths that work in one direction only for 20 s, in a minute, per node. */
  readonly oneway: number;
  /** Nodes whose whole host ends without a word in ten minutes. */
  readonly crash: number;
  /** Years by which clocks differ. */
  readonly skew: number;
};

/** A world without faults. */
export const noFaults: Faults = {
  loss: 0,
  dup: 0,
  reorder: 0,
  pause: 0,
  churn: 0,
  wave: 0,
  leave: 0,
  partition: 0,
  oneway: 0,
  crash: 0,
  skew: 0,
};

/** What a name without a number means. */
const usual: Faults = {
  loss: 0.05,
  dup: 0.02,
  reorder: 0.1,
  pause: 0.05,
  churn: 0.1,
  wave: 0.2,
  leave: 0.3,
  partition: 0.5,
  oneway: 0.2,
  crash: 0.1,
  skew: 10,
};

/**
 * `churn,loss=0.05` as faults.
 * @throws {OtelaError} `usage_invalid` on an unknown name or a number that is none.
 */
export function parseFaults(text: string): Faults {
  const faults = { ...noFaults };
  for (const part of text.split(",").map((one) => one.trim()).filter((one) => one !== "")) {
    const [name, value] = part.split("=", 2);
    if (!isFault(name)) {
      throw new OtelaError(
        "usage_invalid",
        `Cannot simulate "${name}" as a fault must be one of ${Object.keys(noFaults).join(", ")}`,
      );
    }
    const max = name === "skew" ? 1_000 : 1;
    const number = value === undefined ? usual[name] : Number(value);
    if (!(number >= 0 && number <= max)) {
      throw new OtelaError(
        "usage_invalid",
        `Cannot simulate ${name} as its number must be from 0 to ${max}: got "${value}"`,
      );
    }
    faults[name] = number;
  }
  return faults;
}

function isFault(name: string): name is keyof Faults {
  return Object.hasOwn(noFaults, name);
}

/** Clocks this far apart. */
export function skewMs({ skew }: Faults): Ms {
  return skew * 365 * 24 * hourMs;
}

const pauseMs: Ms = 5 * secondMs;
/** A job that ends takes this many nodes with it, at most (the example). */
const waveCountMax = 200;

/** Lets the faults of the first act happen, spread over its time at random. */
export function scheduleFaults(world: World, faults: Faults, actMs: Ms): void {
  const count = world.nodes.length;
  const endMs = world.nowMs + actMs;
  const every = (meanMs: Ms, act: (node: SimNode) => void) => {
    if (!Number.isFinite(meanMs)) return;
    let atMs = world.nowMs;
    for (;;) {
      atMs += -Math.log(1 - world.random()) * meanMs;
      if (atMs >= endMs) return;
      world.timeline.at(atMs, () => act(world.pickNode()));
    }
  };
  const back = (node: SimNode) => {
    const afterMs = 2 * secondMs + world.random() * 28 * secondMs;
    const hasState = world.random() < 0.5;
    const atMs = world.nowMs + afterMs;
    if (atMs >= endMs) return;
    world.timeline.at(atMs, () => {
      if (node.isUp) return;
      world.say(`node ${node.index} starts ${hasState ? "with" : "without"} its state`);
      world.start(node, hasState);
    });
  };

  every(pauseMs / (faults.pause * count), (node) => world.pause(node, pauseMs));
  every(5 * minuteMs / (faults.churn * count), (node) => {
    if (!node.isUp) return;
    world.say(`node ${node.index} is killed`);
    world.kill(node);
    back(node);
  });
  every(10 * minuteMs / (faults.crash * count), (node) => {
    if (!node.isUp) return;
    world.say(`host of node ${node.index} ends`);
    world.kill(node, true);
    back(node);
  });
  every(10 * minuteMs / (faults.leave * count), (node) => {
    if (!node.isUp || node.isPaused(world.nowMs)) return;
    world.say(`node ${node.index} leaves`);
    world.leave(node);
    back(node);
  });
  every(minuteMs / (faults.oneway * count), (node) => {
    const other = world.pickNode();
    if (other === node) return;
    world.say(`path ${node.index} > ${other.index} is cut`);
    world.network.cut(node.index, other.index, world.nowMs);
    world.timeline.at(world.nowMs + 20 * secondMs, () => {
      world.network.mend(node.index, other.index, world.nowMs);
    });
  });
  if (faults.wave > 0) {
    world.timeline.at(world.nowMs + 0.3 * actMs, () => endAtOnce(world, faults.wave));
  }
  if (faults.partition > 0) {
    world.timeline.at(world.nowMs + 0.5 * actMs, () => {
      world.say("the network splits");
      world.network.split(chosen(world, faults.partition).map(({ index }) => index), world.nowMs);
    });
    world.timeline.at(world.nowMs + 0.7 * actMs, () => {
      world.say("the network heals");
      world.network.rejoin(world.nowMs);
    });
  }
}

/** A share of all nodes ends in the same moment; heads stay. */
function endAtOnce(world: World, share: number): void {
  const victims = chosen(world, share).filter(({ isUp, isHead }) => isUp && !isHead).slice(
    0,
    waveCountMax,
  );
  world.say(`${victims.length} nodes end at once`);
  for (const node of victims) world.kill(node);
}

function chosen(world: World, share: number): SimNode[] {
  return world.nodes.filter(() => world.random() < share);
}
