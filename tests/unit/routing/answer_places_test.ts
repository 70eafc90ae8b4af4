import { equal } from "node:assert/strict";
import {
  answerIdOfPath,
  answerIdOfText,
  answerPlaceMsMax,
  AnswerPlaces,
  previousAnswerId,
} from "../../../lib/routing/answer_places.ts";
import { peer } from "./fixtures.ts";

Deno.test("AnswerPlaces remembers who gave an answer, for a day and up to its bound", () => {
  const places = new AnswerPlaces(2);
  places.seen("resp_1", peer(1), 0);
  equal(places.find("resp_1", answerPlaceMsMax - 1), peer(1));
  equal(places.find("resp_1", answerPlaceMsMax), undefined);
  equal(places.size, 0);
  for (const n of [1, 2, 3]) places.seen(`resp_${n}`, peer(n), 0);
  equal(places.find("resp_1", 0), undefined);
  equal(places.find("resp_3", 0), peer(3));
});

Deno.test("ids of answers are found in paths, answers and requests, and nowhere else", () => {
  equal(answerIdOfPath("/v1/responses/resp_a1"), "resp_a1");
  equal(answerIdOfPath("/v1/responses/resp_a1/cancel?x=1"), "resp_a1");
  equal(answerIdOfPath("/v1/responses?limit=1"), undefined);
  equal(answerIdOfPath("/v1/responses/../x"), undefined);
  equal(answerIdOfText('{"object":"response","id" : "resp_7","output":[]}'), "resp_7");
  equal(answerIdOfText('data: {"type":"response.created","response":{"id":"resp_8"}}'), "resp_8");
  equal(answerIdOfText('{"id":"msg_1"}'), undefined);
  equal(previousAnswerId('{"previous_response_id":"resp_9"}'), "resp_9");
  equal(previousAnswerId('{"input":"\\"previous_response_id\\": 1"}'), undefined);
  equal(previousAnswerId('{"previous_response_id":'), undefined);
  equal(previousAnswerId('{"previous_response_id":7}'), undefined);
});
