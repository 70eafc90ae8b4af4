// How was this program made?

/**
 * `source`: Deno runs the modules as they are. Else it is an executable, with the compile runtime named by
 * `DENORT_BIN`, or downloaded by Deno for its own version, or found offline for another version of Deno.
 */
export type BuildWay = "source" | "given" | "downloaded" | "offline";

/** `deno task compile` puts the way of an executable in the place of this one. */
export const buildWay: BuildWay = "source";
