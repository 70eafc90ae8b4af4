// How do tests run on a Deno that counts the timers of packages as leaks of a test?
// Deno 2.7.11 counts the `node:timers` that libp2p keeps for the whole process, whatever a test does;
// 2.9.6 does not, and there leaks are looked for. Loaded before the tests of `deno task compat`.
const register = Deno.test as (definition: object) => void;

/** `Deno.test` in the two forms that our tests use: a name and a function, or a definition. */
function test(first: string | object, fn?: unknown): void {
  const definition = typeof first === "string" ? { name: first, fn } : first;
  register({ sanitizeOps: false, sanitizeResources: false, ...definition });
}

Object.defineProperty(Deno, "test", { value: test });
