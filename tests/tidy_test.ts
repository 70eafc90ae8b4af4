// Is the source in order? Each rule says why we have it when it fails.
import { fail } from "node:assert/strict";
import { everyCaseTested } from "./tidy/case_ids.ts";
import { noOldClosures } from "./tidy/garbage.ts";
import {
  importOrder,
  libp2pBehindMesh,
  lightCommands,
  noCycles,
  oneBarrel,
} from "./tidy/import_order.ts";
import {
  exactVersions,
  explainedDependencies,
  namedPermissions,
  type ProjectConfig,
  topLevelAsAgreed,
  usedDependencies,
} from "./tidy/project.ts";
import { exitOnlyOutside, pureCore } from "./tidy/purity.ts";
import { readRepository } from "./tidy/repository.ts";
import {
  fileLength,
  noDefaultExports,
  noSleepInTests,
  noTestSwitchedOff,
  nothingLeftForLater,
  opensWithQuestion,
} from "./tidy/shape.ts";
import { describe, type Finding } from "./tidy/source_file.ts";

const { names, files } = await readRepository(new URL("../", import.meta.url));
const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? "";
const config: ProjectConfig = JSON.parse(textOf("deno.json"));

function tidy(name: string, findings: () => Finding[]): void {
  Deno.test(`tidy: ${name}`, () => {
    const found = findings();
    if (found.length > 0) fail(`\n${found.map(describe).join("\n")}`);
  });
}

tidy("imports point down", () => importOrder(files));
tidy("imports make no circle", () => noCycles(files));
tidy("only the mesh knows libp2p", () => libp2pBehindMesh(files));
tidy("commands load little", () => lightCommands(files));
tidy("mod.ts is the only barrel", () => oneBarrel(files));
tidy("the core is pure", () => pureCore(files));
tidy("the library never ends the process", () => exitOnlyOutside(files));
tidy("the forward path leaves no old garbage", () => noOldClosures(files));
tidy("files are short", () => fileLength(files));
tidy("files open with their question", () => opensWithQuestion(files));
tidy("nothing is left for later", () => nothingLeftForLater(files));
tidy("nothing is exported as default", () => noDefaultExports(files));
tidy("no test is switched off", () => noTestSwitchedOff(files));
tidy("no test sleeps", () => noSleepInTests(files));
tidy("the top level is as agreed", () => topLevelAsAgreed(names));
tidy("versions are exact", () => exactVersions(config));
tidy(
  "dependencies are explained",
  () => explainedDependencies(config, textOf("docs/DEPENDENCIES.md")),
);
tidy("dependencies are used", () => usedDependencies(config, files));
tidy("permissions are named", () => namedPermissions(files));
tidy("every reported case has its test", () => everyCaseTested(files));
