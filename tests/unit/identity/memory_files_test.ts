import { rejects } from "node:assert/strict";
import { checkFileSystem, failsWith } from "./file_system_contract.ts";
import { MemoryFiles } from "./memory_files.ts";

Deno.test("MemoryFiles keeps the contract of file systems", () => {
  return checkFileSystem(new MemoryFiles(), "/root");
});

Deno.test("MemoryFiles fails as often as it is told", async () => {
  const files = new MemoryFiles();
  files.put("/a", "x");
  files.fail("read", "stale", 2);
  await rejects(files.read("/a", 1), failsWith("stale"));
  await rejects(files.read("/a", 1), failsWith("stale"));
  await files.read("/a", 1);
});
