// What is this product? Shown in ten seconds: a mesh starts, answers, loses a worker, and goes on answering.
import { parseArgs } from "node:util";
import { messageOf } from "../lib/base/errors.ts";
import { type Answer, askPlain, askStreamed, chatClient } from "./chat.ts";
import { type EngineChoice, parseEngines } from "./engines.ts";
import { Interruption } from "./interruption.ts";
import { type LocalMesh, type MeshNode, startLocalMesh } from "./local_mesh.ts";
import { drawModels, hasColour, meshReport, nodeOf } from "./mesh_picture.ts";
import { waitForModels } from "./models.ts";
import { cut, duration, Picture } from "./picture.ts";

const question = "What is the capital of Switzerland?";
const longQuestion = "Tell a long story about a watchmaker who lives in a tower in Bern.";
/** The kill comes when a reader would be in the middle of the answer. */
const tokensBeforeKill = 12;
/** As many answers after the kill, each of which must come. */
const answersAfterKill = 4;

const answerWidth = 40;
const timeWidth = 26;

/** Tells the whole story. @throws {Error} Saying what did not happen as it must. */
async function tell(
  picture: Picture,
  choices: readonly EngineChoice[],
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  picture.title("otela demo", "one endpoint, two workers, four processes on this machine");
  await using mesh = await startLocalMesh(choices, meshReport(picture, choices), signal);
  const models = await waitForModels(mesh, signal);
  drawModels(picture, mesh, models);

  const model = models[0].id;
  const ask = { model, question, tokensMax: 32, signal };
  const client = chatClient(mesh.head.node.http);
  picture.line("question", `"${question}" to ${mesh.head.node.http}/v1, model ${cut(model, 30)}`);
  for (const _ of mesh.workers) draw(picture, mesh, "plain", await askPlain(client, ask));
  for (const _ of mesh.workers) {
    draw(picture, mesh, "streamed", whole(await askStreamed(client, ask)));
  }

  await loseWorker(picture, mesh, client, model, signal);
  for (let asked = 0; asked < answersAfterKill; asked++) {
    const isPlain = asked % 2 === 0;
    const answer = isPlain ? await askPlain(client, ask) : whole(await askStreamed(client, ask));
    draw(picture, mesh, isPlain ? "plain, after" : "streamed, after", answer);
  }
  picture.line("done", `${duration(performance.now() - startMs)}; every process ends now`);
}

/** Kills a worker while it streams, and tells what the client saw of it. */
async function loseWorker(
  picture: Picture,
  mesh: LocalMesh,
  client: ReturnType<typeof chatClient>,
  model: string,
  signal: AbortSignal,
): Promise<void> {
  let killedAtMs = 0;
  let victim: MeshNode | undefined;
  const extra = { x_engine: { tokens: 400, intervalMs: 10 } };
  const ask = { model, question: longQuestion, tokensMax: 400, extra, signal };
  const answer = await askStreamed(client, ask, (count, servedBy) => {
    if (count !== tokensBeforeKill) return;
    victim = nodeOf(mesh, servedBy);
    victim.node.program.signal("SIGKILL");
    killedAtMs = performance.now();
  });
  if (!victim) {
    throw new Error(`The long answer ended after ${answer.chunkCount} tokens, too early`);
  }
  await victim.node.program.ended;
  const afterMs = duration(performance.now() - killedAtMs);
  picture.line("accident", `kill -9 of ${victim.name} while it streams an answer`);
  picture.line(
    "accident",
    answer.brokenBy === undefined
      ? `the stream went on elsewhere and ended whole, ${answer.chunkCount} tokens`
      : `the client is told ${afterMs} later, after ${answer.chunkCount} tokens: ${
        cut(messageOf(answer.brokenBy), 60)
      }`,
  );
}

function draw(picture: Picture, mesh: LocalMesh, how: string, answer: Answer): void {
  if (answer.text === "") throw new Error(`The ${how} answer is empty`);
  const { name } = nodeOf(mesh, answer.servedBy);
  const time = how.startsWith("plain")
    ? `whole after ${duration(answer.totalMs)}`
    : `first token ${duration(answer.firstTokenMs)}`;
  picture.line(
    "answers",
    [how, 18],
    [name, 10, "bold"],
    [time, timeWidth, "green"],
    cut(answer.text, answerWidth),
  );
}

function whole(answer: Answer): Answer {
  if (answer.brokenBy !== undefined) throw answer.brokenBy;
  return answer;
}

if (import.meta.main) {
  const picture = new Picture((line) => console.log(line), hasColour());
  using interruption = new Interruption();
  try {
    const { values } = parseArgs({ options: { engine: { type: "string", multiple: true } } });
    await tell(picture, parseEngines(values.engine ?? []), interruption.signal);
  } catch (error) {
    const isOurs = interruption.signal.aborted;
    console.error(isOurs ? "\n  demo interrupted" : `\n  demo failed: ${messageOf(error)}`);
    Deno.exitCode = isOurs ? 130 : 1;
  }
}
