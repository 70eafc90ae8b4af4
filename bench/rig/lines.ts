// Where do the lines of a byte stream end?

/** Lines of UTF-8 text without their ends; a last line without an end counts. */
export async function* readLines(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
