// What is this product? Shown in ten seconds: a mesh starts, answers, loses a worker, and goes on answering.
import { parseArgs } from "node:util";
import type OpenAI from "openai";
import { messageOf } from "../lib/base/errors.ts";
import { type Answer, type Ask, askPlain, askStreamed, chatClient } from "./chat.ts";
import { type EngineChoice, parseEngines } from "./engines.ts";
import { Interruption } from "./interruption.ts";
import { type LocalMesh, type MeshNode, startLocalMesh } from "./local_mesh.ts";
import { drawModels, hasColour, meshReport } from "./mesh_picture.ts";
import { waitForModels } from "./models.ts";
import { cut, duration, Picture } from "./picture.ts";

const question = "What is the capital of Switzerland?";
const longQuestion = "Tell a long story about a watchmaker who lives in a tower in Bern.";
/** Makes the built-in engine's answer as long as a real one's; a real engine ignores it. */
const longAnswer = { x_engine: { tokens: 400, intervalMs: 10 } };
/** The kill comes when a reader would be in the middle of the answer. */
const tokensBeforeKill = 12;
/** Answers after the kill, each of which must come. */
const answersAfterKill = 4;

/** The mesh, and how to ask it. */
type Stage = {
  readonly picture: Picture;
  readonly mesh: LocalMesh;
  readonly client: OpenAI;
  readonly ask: Ask;
};

/** Tells the whole story. @throws {Error} Saying what did not happen as it must. */
async function tell(
  picture: Picture,
  choices: readonly EngineChoice[],
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  picture.title("otela demo", "one endpoint for engines anywhere; here all on this machine");
  await using mesh = await startLocalMesh(choices, meshReport(picture, choices), signal);
  const models = await waitForModels(mesh.head, mesh.workers, signal);
  drawModels(picture, "models", mesh, models);

  const ask = { model: models[0].id, question, tokensMax: 32, signal };
  const stage = { picture, mesh, client: chatClient(mesh.head.node.http), ask };
  picture.line("question", [question, 40], "to the head, by the official OpenAI client");
  for (const isPlain of [true, true, false, false]) await answerOnce(stage, "answers", isPlain);

  const { victim, killedAtMs } = await loseWorker(stage);
  for (let count = 0; count < answersAfterKill; count++) {
    await answerOnce(stage, "after it", count % 2 === 0);
  }
  const left = mesh.workers.filter((worker) => worker !== victim);
  const modelsLeft = await waitForModels(mesh.head, left, signal);
  const noticed = duration(performance.now() - killedAtMs);
  drawModels(picture, "models", mesh, modelsLeft);
  picture.line("models", `${victim.name} is off the list, at most ${noticed} after the kill`);
  picture.line("done", `in ${duration(performance.now() - startMs)}; all processes end now`);
}

/** Asks the short question and draws the answer. @throws {Error} When it is not whole. */
async function answerOnce(stage: Stage, heading: string, isPlain: boolean): Promise<void> {
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

/** Kills a worker while it streams, and draws what the client saw of it. */
async function loseWorker(stage: Stage): Promise<{ victim: MeshNode; killedAtMs: number }> {
  const { picture, mesh, client } = stage;
  const ask = { ...stage.ask, question: longQuestion, tokensMax: 400, extra: longAnswer };
  let killedAtMs = NaN;
  const answer = await askStreamed(client, ask, (count, servedBy) => {
    if (count !== tokensBeforeKill) return;
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

if (import.meta.main) {
  using interruption = new Interruption();
  try {
    const { values } = parseArgs({ options: { engine: { type: "string", multiple: true } } });
    const picture = new Picture((line) => console.log(line), hasColour());
    await tell(picture, parseEngines(values.engine ?? []), interruption.signal);
  } catch (error) {
    const isOurs = interruption.signal.aborted;
    console.error(isOurs ? "\n  demo interrupted" : `\n  demo failed: ${messageOf(error)}`);
    Deno.exitCode = isOurs ? 130 : 1;
  }
}
