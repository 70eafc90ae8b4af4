// Which commands are there?
import type { CommandGroup, CommandSpec } from "./command.ts";
import { completionCommand } from "./commands/completion.ts";
import { configCommands } from "./commands/config.ts";
import { explainCommand } from "./commands/explain.ts";
import { initCommand } from "./commands/init.ts";
import { peerIdCommand } from "./commands/peer_id.ts";
import { peersCommand } from "./commands/peers.ts";
import { serviceCommands } from "./commands/service.ts";
import { simulateCommand } from "./commands/simulate.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
import { drainCommand, stopCommand } from "./commands/stop.ts";
import { versionCommand } from "./commands/version.ts";

/** Every command but `help`, in the order of the help. */
export const commands: readonly (CommandSpec | CommandGroup)[] = [
  initCommand,
  startCommand,
  statusCommand,
  explainCommand,
  peersCommand,
  drainCommand,
  stopCommand,
  serviceCommands,
  configCommands,
  peerIdCommand,
  simulateCommand,
  versionCommand,
  completionCommand(() => commands),
];

/** A command that can be run, by all the words that name it: `service add`. */
export type NamedCommand = { readonly path: string; readonly spec: CommandSpec };

/** Every command that can be run, those of groups included. */
export function runnableCommands(): NamedCommand[] {
  return commands.flatMap((spec) => {
    if (!("commands" in spec)) return [{ path: spec.name, spec }];
    return spec.commands.map((child) => ({ path: `${spec.name} ${child.name}`, spec: child }));
  });
}

/** Commands of the original that this version has not, and what they are about. */
export const laterCommands: ReadonlyMap<string, string> = new Map([
  ["balance", "wallets"],
  ["probe", "measurements between peers"],
  ["update", "updates"],
  ["wallet", "wallets"],
]);
