// Which of the two Deno versions that we support is this?

/** Whether a version, as `Deno.version.deno` says it, is older than 2.9: that of the offline build is 2.7.11. */
export function isBefore29(version: string): boolean {
  const [major, minor] = version.split(".").map(Number);
  return major < 2 || major === 2 && minor < 9;
}
