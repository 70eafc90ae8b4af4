// Does a file look like the others?
import { codeOnly } from "./code_only.ts";
import { findAll, type Finding, type SourceFile } from "./source_file.ts";

const ours = /^(lib|cli|deploy|bench|tests)\/.*\.ts$|^(main|mod)\.ts$/;
const linesMax = 300;
const testLinesMax = 400;

/** One concept a file. */
export function fileLength(files: readonly SourceFile[]): Finding[] {
  return sources(files).flatMap(({ path, text }) => {
    const limit = path.startsWith("tests/") ? testLinesMax : linesMax;
    const count = text.trimEnd().split("\n").length;
    const why =
      `A file has at most ${limit} lines: beyond that it holds a second concept; give it a file`;
    return count <= limit ? [] : [{ path, line: 0, what: `has ${count} lines`, why }];
  });
}

/** A reader sees at the top whether this is the file they look for. */
export function opensWithQuestion(files: readonly SourceFile[]): Finding[] {
  const why =
    "A file opens with the question it answers, as a // comment: whoever has another question reads on elsewhere";
  return sources(files)
    .filter(({ path }) => !path.endsWith("_test.ts"))
    .filter(({ text }) => !/^(?:#!.*\n)?(?:\/\/[^\n?]*\n)*\/\/[^\n]*\?/.test(text))
    .map(({ path, text }) => ({ path, line: 1, what: text.split("\n", 1)[0], why }));
}

/** What is not done is not there. */
export function nothingLeftForLater(files: readonly SourceFile[]): Finding[] {
  const words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|");
  const why =
    "Nothing is left for later in code: what is missing is an issue, where somebody finds it";
  return sources(files).flatMap((file) =>
    findAll(file, new RegExp(`\\b(?:${words})\\b`, "g"), why)
  );
}

/** Names are given where things are made. */
export function noDefaultExports(files: readonly SourceFile[]): Finding[] {
  const why =
    "Nothing is exported as default: a thing has the same name wherever it is used, so a search finds it";
  return sources(files).filter(({ path }) => !path.startsWith("tests/"))
    .flatMap((file) => findAll(file, /\bexport\s+default\b/g, why, codeOnly(file.text)));
}

/** Every test counts. */
export function noTestSwitchedOff(files: readonly SourceFile[]): Finding[] {
  const why = "No test is switched off or runs alone: a suite that passes must have run";
  return tests(files).flatMap((file) =>
    findAll(file, /\b(?:ignore|only)\s*:|\.(?:ignore|only|skip)\s*\(/g, why, codeOnly(file.text))
  );
}

/** Tests wait for what they wait for. Short pauses of a loop that looks again until a deadline are none. */
export function noSleepInTests(files: readonly SourceFile[]): Finding[] {
  const why =
    "Tests do not sleep, they wait for an event with a deadline: a sleep is too long on one machine and too short on another";
  const sleep = /\bsetTimeout\s*\(\s*\w+\s*,\s*[\d_]{3,}\s*\)|\b(?:delay|sleep)\s*\(\s*[\d_]{3,}/g;
  return tests(files).flatMap((file) => findAll(file, sleep, why, codeOnly(file.text)));
}

function sources(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => ours.test(path));
}

function tests(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => path.startsWith("tests/") && path.endsWith("_test.ts"));
}
