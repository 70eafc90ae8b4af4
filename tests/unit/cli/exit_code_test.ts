import { deepEqual, equal } from "node:assert/strict";
import { ExitCode, exitCodeOf, exitCodes } from "../../../cli/exit_code.ts";
import { OtelaError } from "../../../lib/base/errors.ts";

Deno.test("exitCodeOf tells scripts apart what they can react to", () => {
  equal(exitCodeOf(new OtelaError("config_invalid", "x")), 2);
  equal(exitCodeOf(new OtelaError("usage_invalid", "x")), 2);
  equal(exitCodeOf(new OtelaError("instance_locked", "x")), 3);
  equal(exitCodeOf(new OtelaError("identity_duplicate", "x")), 3);
  equal(exitCodeOf(new OtelaError("port_busy", "x")), 4);
  equal(exitCodeOf(new OtelaError("node_unreachable", "x")), 5);
  equal(exitCodeOf(new OtelaError("timed_out", "x")), 1);
  equal(exitCodeOf(new Error("x")), 1);
  equal(exitCodeOf("x"), 1);
});

Deno.test("exitCodes explains each code and that of a second signal", () => {
  deepEqual(exitCodes.map(({ code }) => code), [...Object.values(ExitCode).map(String), "128 + n"]);
});
