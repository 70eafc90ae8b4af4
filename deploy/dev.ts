// How do I get a mesh to play with? The one of the demo, which stays until Ctrl-C.
import { messageOf } from "../lib/base/errors.ts";
import { Interruption } from "./interruption.ts";
import { startLocalMesh } from "./local_mesh.ts";
import { type MeshChoices, parseMeshChoices, typedIn } from "./mesh_choices.ts";
import { drawModels, hasColour, meshReport } from "./mesh_picture.ts";
import { waitForModels } from "./models.ts";
import { Picture } from "./picture.ts";

/** Runs the mesh until the signal aborts. @throws {Error} When it does not start, or its head ends. */
async function stay(
  picture: Picture,
  choices: MeshChoices,
  signal: AbortSignal,
): Promise<void> {
  picture.title("otela dev", "a head and two workers on this machine");
  await using mesh = await startLocalMesh(choices, meshReport(picture, choices.engines), signal);
  const models = await waitForModels(mesh.head, mesh.workers, signal);
  drawModels(picture, "models", mesh, models);
  const body = JSON.stringify({
    model: models[0].id,
    stream: true,
    messages: [{ role: "user", content: "What is the capital of Switzerland?" }],
  });
  picture.line("try", `curl -N ${mesh.head.node.http}/v1/chat/completions \\`);
  picture.line("try", `  -H 'content-type: application/json' -d '${body}'`);
  picture.line("end", "Ctrl-C ends all of it");
  const ends = [mesh.head, ...mesh.workers].map(async ({ name, node }) => {
    const { code } = await node.program.ended;
    if (!signal.aborted) picture.line("ended", `${name} with exit code ${code}`);
  });
  await ends[0];
  if (!signal.aborted) throw new Error(`The head ended: ${mesh.head.node.program.stderr.lastLine}`);
}

if (import.meta.main) {
  using interruption = new Interruption();
  try {
    const choices = parseMeshChoices(Deno.args, typedIn());
    const picture = new Picture((line) => console.log(line), hasColour());
    await stay(picture, choices, interruption.signal);
  } catch (error) {
    if (!interruption.signal.aborted) {
      console.error(`\n  dev failed: ${messageOf(error)}`);
      Deno.exitCode = 1;
    }
  }
}
