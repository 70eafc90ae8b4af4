// How does an answer of our own leave the node?

const encoder = new TextEncoder();

/**
 * A whole answer with its length, so that `HEAD` can tell the length without the body (C024).
 * @param text Becomes the body, in UTF-8.
 */
export function textAnswer(text: string, contentType: string, status = 200): Response {
  const bytes = encoder.encode(text);
  return new Response(bytes, {
    status,
    headers: { "content-type": contentType, "content-length": String(bytes.byteLength) },
  });
}

/** A JSON answer. */
export function jsonAnswer(value: unknown, status = 200): Response {
  return textAnswer(JSON.stringify(value), "application/json", status);
}
