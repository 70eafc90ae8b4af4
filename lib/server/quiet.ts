// For how long may a connection do nothing?

/** What a connection is at. */
export type ConnectionState =
  /** Between requests. */
  | "idle"
  /** In the middle of a request's head. */
  | "head"
  /** A handler has a request, and limits of its own for it. */
  | "running"
  /** It is answered, and the rest of its body is not here. */
  | "rest"
  /** Bytes of ours have not left. */
  | "writing"
  /** Nothing more is answered. */
  | "lingering";

/** How many looks of the server, 10 s apart, without anything that moves. A guess each. */
const quietLooksMax: Readonly<Record<ConnectionState, number>> = {
  idle: 60,
  head: 3,
  running: Infinity,
  rest: 3,
  writing: 90,
  lingering: 1,
};
/** A head that comes byte by byte moves all the time. */
const headLooksMax = 3;

/** Counts, so that nobody holds a connection for ever by doing nothing, or next to nothing. */
export class Quiet {
  private quietLooks = 0;
  private headLooks = 0;
  private state: ConnectionState = "idle";
  private moves = -1;

  /**
   * @param moves Any number that is another one whenever something has moved.
   * @returns Whether it has lasted too long.
   */
  look(state: ConnectionState, moves: number): boolean {
    const isSame = state === this.state && moves === this.moves;
    this.quietLooks = isSame ? this.quietLooks + 1 : 0;
    const isBounded = state === "head" || state === "lingering";
    this.headLooks = !isBounded ? 0 : state === this.state ? this.headLooks + 1 : 1;
    this.state = state;
    this.moves = moves;
    return this.headLooks > headLooksMax || this.quietLooks > quietLooksMax[state];
  }
}
