// How does a mesh look while it starts?
import type { EngineChoice } from "./engines.ts";
import type { LocalMesh, MeshReport } from "./local_mesh.ts";
import type { ServedModel } from "./models.ts";
import { cut, duration, type Picture } from "./picture.ts";

/** Columns: name of a node, its PeerId, its URL. */
const nameWidth = 12;
const peerWidth = 12;
const urlWidth = 28;

/** A picture on standard output, in colour when a person sees it there. */
export function hasColour(): boolean {
  return Deno.stdout.isTerminal() && !Deno.env.get("NO_COLOR");
}

/** Draws each part as it starts. */
export function meshReport(picture: Picture, choices: readonly EngineChoice[]): MeshReport {
  const kind = { built_in: "built-in test engine", command: "started", running: "was running" };
  return {
    packages: () => picture.line("packages", "downloading what the nodes need, once"),
    engine: ({ url }, index) => {
      const choice = choices[Math.min(index, choices.length - 1)];
      const name = `engine ${index + 1}`;
      picture.line("engines", [name, nameWidth], [url, urlWidth], kind[choice.kind]);
    },
    node: ({ name, node, startMs, engine }) => {
      const behind = engine ? "in front of its engine" : "where clients ask";
      const cells = [[name, nameWidth, "bold"], [shortId(node.peerId), peerWidth, "dim"]] as const;
      picture.line(
        "nodes",
        ...cells,
        [node.http, urlWidth],
        `${behind}, up in ${duration(startMs)}`,
      );
    },
  };
}

/** Draws who serves what. */
export function drawModels(
  picture: Picture,
  heading: string,
  mesh: LocalMesh,
  models: readonly ServedModel[],
): void {
  for (const { id, peers } of models) {
    const names = peers.map((peer) => mesh.nameOf(peer)).sort();
    picture.line(heading, [cut(id, 38), 40, "bold"], `served by ${names.join(" and ")}`);
  }
}

/** The last 8 characters, the part that differs. */
function shortId(peerId: string): string {
  return `…${peerId.slice(-8)}`;
}
