import { deepEqual, equal, rejects } from "node:assert/strict";
import { createHash } from "node:crypto";
import OpenAI from "openai";
import { ClientKeys } from "../../lib/access/client_keys.ts";
import { OtelaError } from "../../lib/base/errors.ts";
import { listenForClients } from "../../lib/gateway/door_listener.ts";
import { claim, entry, fixture, peer, service, viewOf } from "../unit/gateway/fixture.ts";

const key = "sk-otela-test";
const deadlineMs = 5_000;

/** Runs with the official client against a door on a real port. */
async function withClient(
  changes: Parameters<typeof fixture>[0],
  run: (client: OpenAI) => Promise<void>,
): Promise<void> {
  const listener = listenForClients(fixture(changes).door, {
    host: "127.0.0.1",
    port: 0,
    isPortExplicit: false,
  });
  try {
    await run(new OpenAI({ apiKey: key, baseURL: `${listener.url}/v1`, maxRetries: 0 }));
  } finally {
    await listener.close(deadlineMs);
  }
}

const view = viewOf(entry(peer("A"), claim(service("llm", "model=org/demo-7b", "model=small"))));

Deno.test("createClientDoor lists and finds models, when the official client asks", async () => {
  await withClient({ view: () => view }, async (client) => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    deepEqual(ids, ["org/demo-7b", "small"]);
    const model = await client.models.retrieve("org/demo-7b");
    deepEqual([model.id, model.object, model.owned_by], ["org/demo-7b", "model", "otela"]);
  });
});

Deno.test("createClientDoor's errors are the official client's own kinds, with code and request id", async () => {
  const failure = new OtelaError("no_candidate", "Cannot route");
  await withClient({ forwarder: { forward: () => Promise.reject(failure) } }, async (client) => {
    await rejects(client.models.retrieve("missing"), (error) => {
      equal(error instanceof OpenAI.NotFoundError, true);
      const { status, code, requestID } = error as InstanceType<typeof OpenAI.APIError>;
      deepEqual([status, code], [404, "model_not_found"]);
      equal(requestID?.startsWith("test-"), true);
      return true;
    });
    const chat = client.chat.completions.create({ model: "m", messages: [] });
    await rejects(chat, (error) => {
      equal(error instanceof OpenAI.InternalServerError, true);
      const { status, code } = error as InstanceType<typeof OpenAI.APIError>;
      deepEqual([status, code], [503, "no_candidate"]);
      return true;
    });
  });
});

Deno.test("createClientDoor knows the official client's key, and refuses another", async () => {
  const keysOf = (text: string) =>
    ClientKeys.parse(createHash("sha256").update(text).digest("hex"), "keys");
  await withClient({ keys: keysOf(key) }, async (client) => {
    deepEqual((await client.models.list()).data, []);
  });
  await withClient({ keys: keysOf("another") }, async (client) => {
    await rejects(client.models.list(), OpenAI.AuthenticationError);
  });
});
