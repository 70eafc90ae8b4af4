// What is this product? Shown in ten seconds: a mesh starts, answers, loses a worker, and goes on answering.
import { messageOf } from "../lib/base/errors.ts";
import { chatClient } from "./chat.ts";
import { answerOnce, leaveEarly, loseWorker } from "./demo_steps.ts";
import { Interruption } from "./interruption.ts";
import { startLocalMesh } from "./local_mesh.ts";
import { type MeshChoices, parseMeshChoices, typedIn } from "./mesh_choices.ts";
import { drawModels, hasColour, meshReport } from "./mesh_picture.ts";
import { waitForModels } from "./models.ts";
import { duration, Picture } from "./picture.ts";

const question = "What is the capital of Switzerland?";
/** Answers after the kill, each of which must come. */
const answersAfterKill = 4;

/** Tells the whole story. @throws {Error} Saying what did not happen as it must. */
async function tell(
  picture: Picture,
  choices: MeshChoices,
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  picture.title("otela demo", "one endpoint for engines anywhere; here all on this machine");
  await using mesh = await startLocalMesh(choices, meshReport(picture, choices.engines), signal);
  const models = await waitForModels(mesh.head, mesh.workers, signal);
  drawModels(picture, "models", mesh, models);

  const ask = { model: models[0].id, question, tokensMax: 32, signal };
  const stage = { picture, mesh, client: chatClient(mesh.head.node.http), ask };
  picture.line("question", [question, 40], "to the head, by the official OpenAI client");
  for (const isPlain of [true, true, false, false]) await answerOnce(stage, "answers", isPlain);

  await leaveEarly(stage);
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

if (import.meta.main) {
  using interruption = new Interruption();
  try {
    const choices = parseMeshChoices(Deno.args, typedIn());
    const picture = new Picture((line) => console.log(line), hasColour());
    await tell(picture, choices, interruption.signal);
  } catch (error) {
    const isOurs = interruption.signal.aborted;
    console.error(isOurs ? "\n  demo interrupted" : `\n  demo failed: ${messageOf(error)}`);
    Deno.exitCode = isOurs ? 130 : 1;
  }
}
