// Which numbers does membership live by, and where does each come from?
import { type Ms, secondMs } from "../base/units.ts";

/** Watchers of each peer (protocol §4). Two must agree, so one may be wrong or frozen. */
export const watchersMax = 3;
/** Between two probe turns (SWIM §3, memberlist `ProbeInterval`). */
export const probeEveryMs: Ms = secondMs;
/**
 * Every watched peer is probed at least this often, in turns: who watches more than four probes two a turn. Watch sets
 * are about Poisson distributed with mean 3, so a node sends 1.2 probes a second whatever the size of the mesh.
 * A guess: with it a frozen peer is called left within 14 s.
 */
export const turnsPerRound = 4;
/** No answer for so long: ask others (memberlist `ProbeTimeout`). */
export const probeTimeoutMs: Ms = 500;
/** Others that are asked to probe for us (memberlist `IndirectChecks`). */
export const indirectCount = 3;
/** A helper says after this part of the probe timeout that it heard nothing (memberlist: 80 %). */
export const nackShare = 0.8;
/** Doubts about ourselves reach at most this: timeouts grow up to nine times (memberlist `AwarenessMaxMultiplier`). */
export const doubtMax = 8;
/** A tick so late means that we were frozen ourselves (protocol §4). */
export const lateMs: Ms = secondMs;
/**
 * A suspected peer is called left after so long without any sign of it, when another watcher suspects it as well.
 * 8 s are promised (protocol §4); the rest covers the last probe's way and timeout.
 */
export const leftAfterMs: Ms = 8_600;
/**
 * What another watcher must have found itself to count with us, and how fresh its word must be: it repeats it with
 * every round. It starts about a second after us. 5.6 s let three of the living go in ten hours of simulated bad
 * weather, where a lost probe of each of two watchers came before a pause of 5 s; now that takes two of each.
 */
export const sharedSilenceMsMin: Ms = 7 * secondMs;
export const sharedFreshMs: Ms = 2_500;
/** The same when nobody else suspects it: Lifeguard waits longer for who is alone with its suspicion. A guess. */
export const leftAloneAfterMs: Ms = 13 * secondMs;
/** Rounds of direct and indirect probes that must have failed by then. A guess: half of those that fit. */
export const failedRoundsMin = 4;
/** Who accuses must be this near to the accused in our own view; views differ while claims travel. A guess: twice. */
export const authorityRankMax = 2 * watchersMax;
/** Accusations read of one accuser a second (protocol §4). */
export const accusationsPerSecondMax = 5;
/** A rumour leaves each node at most this many times per digit of the mesh's size (memberlist `RetransmitMult`). */
export const retransmitMult = 4;
/** Rumours on one probe or answer: about 600 bytes. A guess. */
export const rumoursPerMessageMax = 3;
/** Rumours waiting to be passed on; the oldest make room. A guess: a Slurm job of 200 ends, told by two each. */
export const rumoursWaitingMax = 512;
/** Single accusations that wait for a second one are forgotten after so long. A guess. */
export const accusationKeptMs: Ms = 60 * secondMs;
/** Digests of who has left must differ for so long before both sides compare. A guess: floods take one second. */
export const digestDiffersMs: Ms = 3 * secondMs;
/** While comparing changes nothing the next one waits twice as long, up to this. A guess. */
export const comparePauseMsMax: Ms = 60 * secondMs;
/** Peers whose eviction is checked by a probe of our own, a turn. A guess: healing of halves of 500 takes seconds. */
export const checksPerTurnMax = 3;
/** Exchanges so recent that a head still probes their worker (protocol §4). */
export const exchangedRecentlyMs: Ms = 10 * secondMs;
/** Wait before the second dial, and between two looks for lost peers, ± a third (protocol §3: 3 s ± 1). */
export const redialFirstMs: Ms = 3 * secondMs;
/** No wait for one peer is longer (protocol §3). */
export const redialMaxMs: Ms = 60 * secondMs;
/** Lost peers dialled at each look (protocol §3). */
export const redialCount = 2;
/** Peers of which more is known than their claim; twice the claims of an open mesh (protocol §1). */
export const membersMax = 20_000;
