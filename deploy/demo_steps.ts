// What happens in the demo, and what must be true of it?
import type OpenAI from "openai";
import { messageOf } from "../lib/base/errors.ts";
import type { Ms } from "../lib/base/units.ts";
import { type Answer, type Ask, askPlain, askStreamed } from "./chat.ts";
import type { LocalMesh, MeshNode } from "./local_mesh.ts";
import { cut, duration, type Picture } from "./picture.ts";

/** The promise is a second; a loaded machine gets more (guess). */
const engineFreeMs: Ms = 5_000;
const longQuestion = "Tell a long story about a watchmaker who lives in a tower in Bern.";
/** Makes the built-in engine's answer as long as a real one's; a real engine ignores it. */
const longAnswer = { x_engine: { tokens: 400, intervalMs: 10 } };
/** A reader would then be in the middle of the answer. */
const tokensBeforeEnd = 12;

/** The mesh, and how to ask it. */
export type Stage = {
  readonly picture: Picture;
  readonly mesh: LocalMesh;
  readonly client: OpenAI;
  readonly ask: Ask;
};

/** Asks the short question and draws the answer. @throws {Error} When it is not whole. */
export async function answerOnce(stage: Stage, heading: string, isPlain: boolean): Promise<void> {
  const { picture, mesh, client, ask } = stage;
  const answer = await (isPlain ? askPlain(client, ask) : askStreamed(client, ask));
  if (answer.brokenBy !== undefined) throw answer.brokenBy;
  if (answer.text === "") throw new Error("An answer is empty");
  const { name } = serverOf(mesh, answer);
  const [how, time] = isPlain
    ? ["plain", `all after ${duration(answer.totalMs)}`]
    : ["streamed", `first token ${duration(answer.firstTokenMs)}`];
  picture.line(heading, [name, 12, "bold"], [how, 10], [time, 20, "green"], cut(answer.text, 44));
}

/** Leaves a stream in the middle, and draws how soon the worker stopped its engine. */
export async function leaveEarly(stage: Stage): Promise<void> {
  const { picture, mesh, client } = stage;
  const leaving = new AbortController();
  const signal = AbortSignal.any([stage.ask.signal, leaving.signal]);
  const ask = { ...stage.ask, question: longQuestion, tokensMax: 400, extra: longAnswer, signal };
  let server: MeshNode | undefined;
  let connectionsBefore = 0;
  const stream = askStreamed(client, ask, async (count, servedBy) => {
    if (count !== tokensBeforeEnd) return;
    server = serverOf(mesh, { servedBy });
    connectionsBefore = await engineConnections(server, stage.ask.signal);
    leaving.abort();
  });
  const answer = await stream.catch((error) => {
    if (!leaving.signal.aborted) throw error;
  });
  if (answer || !server) throw new Error("The long answer ended before its reader could leave");
  const leftAtMs = performance.now();
  while (await engineConnections(server, stage.ask.signal) >= connectionsBefore) {
    if (performance.now() - leftAtMs > engineFreeMs) {
      throw new Error(`The engine of ${server.name} still works for a reader who has left`);
    }
  }
  const free = duration(performance.now() - leftAtMs);
  picture.line("leaving", [server.name, 12, "bold"], "the reader of a long answer closes it");
  picture.line("leaving", ["", 12], `its engine is let go at most ${free} later`);
}

/** Connections from a worker to its engine: a request that is given up takes its connection with it. */
async function engineConnections({ node }: MeshNode, signal: AbortSignal): Promise<number> {
  const response = await fetch(`${node.http}/metrics`, { signal });
  const found = /^otela_engine_pool_connections (\d+)$/m.exec(await response.text());
  if (!found) throw new Error("A worker does not tell its connections to the engine");
  return Number(found[1]);
}

/** Kills a worker while it streams, and draws what the client saw of it. */
export async function loseWorker(stage: Stage): Promise<{ victim: MeshNode; killedAtMs: number }> {
  const { picture, mesh, client } = stage;
  const ask = { ...stage.ask, question: longQuestion, tokensMax: 400, extra: longAnswer };
  let killedAtMs = NaN;
  const answer = await askStreamed(client, ask, (count, servedBy) => {
    if (count !== tokensBeforeEnd) return;
    serverOf(mesh, { servedBy }).node.program.signal("SIGKILL");
    killedAtMs = performance.now();
  });
  const endMs = performance.now() - killedAtMs;
  const victim = serverOf(mesh, answer);
  if (Number.isNaN(killedAtMs)) {
    throw new Error(`The long answer ended after ${answer.chunkCount} tokens, before the kill`);
  }
  const how = answer.brokenBy === undefined
    ? `the stream went on without it and ended whole, ${answer.chunkCount} tokens`
    : `the stream stops after ${answer.chunkCount} tokens, and ${duration(endMs)} later says why:`;
  picture.line("accident", [victim.name, 12, "red"], "kill -9 while it streams a long answer");
  picture.line("accident", ["", 12], how);
  if (answer.brokenBy !== undefined) {
    picture.line("accident", ["", 12], `"${cut(messageOf(answer.brokenBy), 84)}"`);
  }
  return { victim, killedAtMs };
}

/** The worker that served an answer. @throws {Error} When the head names none of ours. */
function serverOf(mesh: LocalMesh, { servedBy }: Pick<Answer, "servedBy">): MeshNode {
  const found = mesh.workers.find(({ node }) => node.peerId === servedBy);
  if (!found) throw new Error(`The head does not name a worker of ours, but "${servedBy}"`);
  return found;
}
