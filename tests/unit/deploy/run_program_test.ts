import { equal } from "node:assert/strict";
import { reasonOf } from "../../../deploy/executable/run_program.ts";

Deno.test("reasonOf finds the line that tells why Deno could not", () => {
  const complaint = `Download https://example.org/denort.zip
error: Writing deno compile executable to temporary file 'empty.tmp-1'

Caused by:
    0: Setting up base binary.
    1: error sending request for url (https://example.org/denort.zip): client error (Connect): dns error
    2: client error (Connect)
    3: dns error

Stack backtrace:
   0: <unknown>`;
  equal(
    reasonOf(complaint),
    "error sending request for url (https://example.org/denort.zip): client error (Connect): dns error",
  );
});

Deno.test("reasonOf finds the line that tells why npm could not", () => {
  const complaint = `npm error code ENOTFOUND
npm error network request to https://registry.example.org/x failed, reason: getaddrinfo ENOTFOUND
npm error network This is a problem related to network connectivity.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/x.log`;
  equal(reasonOf(complaint), "getaddrinfo ENOTFOUND");
});

Deno.test("reasonOf falls back to the last error, then to the last line, then to nothing", () => {
  equal(reasonOf("error: a\nerror: b\nsee the manual\n"), "error: b");
  equal(reasonOf("no\nthere is no such thing\n"), "there is no such thing");
  equal(reasonOf(""), "");
});
