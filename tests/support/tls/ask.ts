// What does a process see of an https engine that trusts what its environment says?
import { callPool, poolTo } from "../pool_call.ts";

const pool = poolTo(Deno.args[0]);
try {
  console.log(await (await callPool(pool, { path: "/" })).text());
} catch (error) {
  const { at, message } = error as Error & { at: string };
  console.log(`${at}: ${message}`);
}
await pool.destroy();
