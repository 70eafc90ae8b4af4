// What are simulated peers called?
import { parsePeerId, type PeerId } from "../base/peer_id.ts";

const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** A PeerId by number, as long as real ones and as evenly spread; nobody has its key. */
export function peerNumbered(number: number): PeerId {
  let text = "";
  let state = (number + 1) >>> 0;
  for (let at = 0; at < 38; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += digits[(state >>> 8) % digits.length];
  }
  return parsePeerId(`12D3KooW${text}${numeral(number)}`);
}

/** Six digits, so that no two names are equal and each ends with its number. */
function numeral(number: number): string {
  let text = "";
  for (let rest = number; text.length < 6; rest = Math.floor(rest / digits.length)) {
    text = digits[rest % digits.length] + text;
  }
  return text;
}
