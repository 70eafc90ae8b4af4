// How do the command lines of a document run as on a reader's machine?
import { equal } from "node:assert/strict";
import { secondMs } from "../../lib/base/units.ts";
import { eventually } from "./eventually.ts";
import { nodeEnvironment, sourceCommand } from "./node_process.ts";
import { Program } from "./program.ts";
import { within } from "./within.ts";

const commandMs = 30 * secondMs;

/** The built executable in place of which we run from source, so that a test need not wait for a build. */
const executable = "dist/otela-x86_64-unknown-linux-gnu";

/** A home with `otela` on the path. Leaving an `await using` scope ends its node and removes it. */
export class DocMachine implements AsyncDisposable {
  /** URL of the running node's client door. */
  http = "";
  private node: Program | undefined;

  private constructor(private readonly home: string) {}

  /** A machine on which nothing was done yet. */
  static async create(): Promise<DocMachine> {
    const home = await Deno.makeTempDir({ prefix: "otela-docs-" });
    await Deno.mkdir(`${home}/tools`);
    const command = sourceCommand().map((word) => `'${word}'`).join(" ");
    const scripts = {
      otela: `exec ${command} "$@"`,
      // Tasks have tests of their own; what a build leaves behind is needed by the lines after it.
      npx: `case "$*" in *"task compile") mkdir -p dist && cp "$0/../otela" ${executable} ;; esac`,
    };
    for (const [name, script] of Object.entries(scripts)) {
      const text = `#!/bin/bash\n${script.replace("$0/..", `${home}/tools`)}\n`;
      await Deno.writeTextFile(`${home}/tools/${name}`, text, { mode: 0o755 });
    }
    return new DocMachine(home);
  }

  /**
   * Runs one line as bash does; it must succeed. A node that a line starts stays until the next one, or the end.
   * @param isAnswer For a line that asks a mesh, repeated until it prints what the mesh will know.
   * @returns What it printed.
   */
  async run(line: string, isAnswer?: (text: string) => boolean): Promise<string> {
    if (/^otela start\b/.test(line)) return await this.startNode(line);
    if (/^otela (service|status|stop|leave)\b/.test(line) && !this.node) {
      await this.startNode("otela start");
    }
    let text = "";
    if (isAnswer) await eventually(async () => isAnswer(text = await this.runOnce(line)));
    else text = await this.runOnce(line);
    if (/^otela (stop|leave)\b/.test(line)) await this.endNode();
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endNode();
    await Deno.remove(this.home, { recursive: true });
  }

  private async runOnce(line: string): Promise<string> {
    await using program = this.program(`set -euo pipefail; ${line}`);
    const { code } = await within(commandMs, program.ended);
    equal(code, 0, `${line}\n${program.stderr.text}`);
    return program.stdout.text;
  }

  private async startNode(line: string): Promise<string> {
    await this.endNode();
    this.node = this.program(`exec ${line}`);
    const { stdout } = this.node;
    this.http = await stdout.waitFor((text) => /^clients +(\S+)/.exec(text)?.[1], commandMs);
    return stdout.text;
  }

  private async endNode(): Promise<void> {
    const { node } = this;
    if (!node) return;
    this.node = undefined;
    equal((await node.end(commandMs)).code, 0);
  }

  private program(script: string): Program {
    const environment = nodeEnvironment(this.home);
    return new Program({
      command: "bash",
      args: ["-c", script],
      cwd: this.home,
      env: {
        ...environment,
        PATH: `${this.home}/bin:${this.home}/tools:${environment.PATH}`,
        // A reader's ports may be taken here, and tests stay on loopback.
        OF_PORT: "0",
        OF_TCPPORT: "0",
        OF_HOST: "127.0.0.1",
        OF_MESH_HOSTS: "127.0.0.1",
      },
    });
  }
}
